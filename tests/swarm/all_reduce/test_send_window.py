import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.all_reduce.send_window import SendWindow, window_size
from tests.swarm.in_a_loop import in_a_loop

counts_of_parts = st.lists(st.integers(0, 8), min_size=1, max_size=4).filter(any)


@in_a_loop
async def test_progress_is_equal_towards_all_reducers() -> None:
    window = SendWindow([2, 0, 4], 100)
    order = list[int]()

    async def send(reducer: int, count: int) -> None:
        for _ in range(count):
            await window.turn(reducer)
            order.append(reducer)

    async with asyncio.timeout(5), asyncio.TaskGroup() as tasks:
        tasks.create_task(send(0, 2))
        tasks.create_task(send(2, 4))
    assert sorted(order[:3]) == sorted(order[3:]) == [0, 2, 2]


@in_a_loop
async def test_no_more_parts_are_on_the_way_than_the_window_holds() -> None:
    window = SendWindow([10], 3)
    for _ in range(3):
        await window.turn(0)
    assert not window.may_send(0)
    window.add_answer(0)
    assert window.may_send(0)


@pytest.mark.parametrize("size", [0, 1])
@in_a_loop
async def test_each_reducer_may_have_one_part_in_the_smallest_window(size: int) -> None:
    window = SendWindow([4, 4], size)
    await window.turn(0)
    await window.turn(1)
    assert not window.may_send(0)
    assert not window.may_send(1)


@in_a_loop
async def test_nobody_waits_for_its_turn_after_a_reducer_was_lost() -> None:
    window = SendWindow([10, 10], 2)
    await window.turn(0)
    await window.turn(1)
    waiting = asyncio.create_task(window.turn(1))
    await asyncio.sleep(0)
    assert not waiting.done()
    window.end(0)
    async with asyncio.timeout(5):
        await waiting
        for _ in range(8):
            await window.turn(1)


@in_a_loop
async def test_a_part_that_waits_too_long_for_others_goes_out_of_turn() -> None:
    window = SendWindow([10, 10], 2, patience=0.05)
    await window.turn(0)
    await window.turn(1)
    assert not window.may_send(1)
    async with asyncio.timeout(5):
        await window.turn(1)
        await window.turn(1)
    assert not window.may_send(0)


def test_a_reducer_that_has_answered_everything_leaves_the_others_in_turn() -> None:
    window = SendWindow([1, 2], 2)
    window.add_sent(1)
    window.add_sent(0)
    window.add_answer(0)
    window.end(0)
    assert window.may_send(1)
    window.add_sent(1)
    assert not window.may_send(1)


@given(counts_of_parts, st.integers(0, 5), st.integers())
def test_members_that_keep_to_the_order_never_wait_for_ever(counts: list[int], size: int, seed: int) -> None:
    """A reducer answers a part when all have sent it; of what is possible, anything happens next."""
    random = Random(seed)
    members = [SendWindow(counts, size) for _ in range(3)]
    sent = [[0] * len(counts) for _ in members]
    answered = [0] * len(counts)
    while answered != counts:
        sends = [
            (member, reducer)
            for member, window in enumerate(members)
            for reducer, count in enumerate(counts)
            if sent[member][reducer] < count and window.may_send(reducer)
        ]
        answers = [
            reducer for reducer in range(len(counts)) if answered[reducer] < min(parts[reducer] for parts in sent)
        ]
        assert sends or answers
        chosen = random.randrange(len(sends) + len(answers))
        if chosen < len(sends):
            member, reducer = sends[chosen]
            members[member].add_sent(reducer)
            sent[member][reducer] += 1
        else:
            reducer = answers[chosen - len(sends)]
            answered[reducer] += 1
            for window in members:
                window.add_answer(reducer)


def test_the_window_follows_the_slowest_member_within_bounds() -> None:
    assert window_size([None, 0.0, 25e6, 4e6]) == 800_000
    assert window_size([12.5e6, 1.0]) == window_size([None]) == 1 << 19
    assert window_size([1e300]) == 1 << 20

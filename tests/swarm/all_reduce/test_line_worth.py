import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.all_reduce.line_worth import Line, LineWorth, Speed, least_time
from core.swarm.errors import LineTooSlow

MBIT = 125_000.0
FAST, SLOW = Line(100 * MBIT, can_reduce=True), Line(1 * MBIT, can_reduce=True)
BATCH, SIZE = 1000, 10 * MBIT
"""A line of 1 Mbit/s needs ten seconds for the vector."""

lines = st.builds(Line, st.floats(1.0, 1e9), st.booleans())


def rounds(worth: LineWorth, own: Line, count: int, *, own_speed: float, others_speed: float = 100.0) -> None:
    for _round in range(count):
        worth.add_round(SIZE, own, [FAST, FAST], Speed(own_speed), Speed(others_speed))


def may_stay(worth: LineWorth, own: Line, count: int, *, own_speed: float, others_speed: float = 100.0) -> bool:
    try:
        rounds(worth, own, count, own_speed=own_speed, others_speed=others_speed)
    except LineTooSlow:
        return False
    return True


def together(own: Speed, others: Speed) -> float:
    """Seconds of an update with a slow line that is not worth it."""
    worth = LineWorth(BATCH)
    for _round in range(4):
        worth.add_round(SIZE, SLOW, [FAST, FAST], own, others)
    with pytest.raises(LineTooSlow) as raised:
        worth.add_round(SIZE, SLOW, [FAST, FAST], own, others)
    return float(str(raised.value.message.params["together"]))


def test_a_slow_line_is_worth_its_time_if_the_computer_is_fast() -> None:
    assert may_stay(LineWorth(BATCH), SLOW, 50, own_speed=10_000.0)


def test_a_slow_line_that_costs_more_than_the_computer_gives_ends_the_session_after_five_rounds() -> None:
    worth = LineWorth(BATCH)
    rounds(worth, SLOW, 4, own_speed=10.0)
    with pytest.raises(LineTooSlow) as raised:
        rounds(worth, SLOW, 1, own_speed=10.0)
    assert raised.value.message.params["without"] == pytest.approx(10.15, rel=0.01)
    assert raised.value.message.params["together"] == pytest.approx(19.1, rel=0.01)


def test_a_round_in_between_in_which_the_line_suffices_begins_the_count_again() -> None:
    worth = LineWorth(BATCH)
    for own in (SLOW, FAST) * 10:
        assert may_stay(worth, own, 4 if own is SLOW else 1, own_speed=10.0)


def test_a_slow_computer_on_a_fast_line_is_welcome() -> None:
    assert may_stay(LineWorth(BATCH), FAST, 50, own_speed=0.01)


def test_of_two_peers_only_the_one_with_the_slower_line_leaves() -> None:
    worth = LineWorth(BATCH)

    def five_rounds(own: Line, other: Line) -> None:
        for _round in range(5):
            worth.add_round(SIZE, own, [other], Speed(10.0), Speed(1000.0))

    five_rounds(FAST, SLOW)
    five_rounds(SLOW, SLOW)
    with pytest.raises(LineTooSlow):
        five_rounds(SLOW, FAST)


def test_only_time_counts_in_which_others_wait() -> None:
    own, training = Speed(10.0, in_rounds=10.0), Speed(100.0, in_rounds=100.0)
    # A round of ten seconds, as long as the others need for a batch: who computes meanwhile loses nothing.
    worth = LineWorth(BATCH)
    for _round in range(50):
        worth.add_round(SIZE, SLOW, [FAST, FAST], own, training)
    # Half of the others wait for it.
    assert together(own, Speed(100.0, in_rounds=50.0)) == pytest.approx(10 + (BATCH - 10 * 60) / 110)


def test_a_round_that_is_longer_than_the_batch_is_waited_for_by_all() -> None:
    assert together(Speed(10.0, 10.0), Speed(1000.0, 1000.0)) == pytest.approx(10.0)


def test_nobody_waits_for_the_only_one_who_computes() -> None:
    assert may_stay(LineWorth(BATCH), SLOW, 50, own_speed=10.0, others_speed=0.0)


def test_a_group_of_one_and_one_in_which_nobody_can_be_called_average_nothing() -> None:
    assert least_time(SIZE, [SLOW]) == least_time(SIZE, [Line(MBIT, can_reduce=False)] * 3) == 0.0


def test_an_auxiliary_peer_carries_what_four_callers_send() -> None:
    caller = Line(10 * MBIT, can_reduce=False)
    assert least_time(20 * MBIT, [caller] * 4 + [Line(100 * MBIT, can_reduce=True)]) == pytest.approx(2.0)


@given(st.lists(lines, min_size=2, max_size=8), lines)
def test_no_round_is_shorter_than_its_slowest_line_needs(others: list[Line], own: Line) -> None:
    if any(line.can_reduce for line in [own, *others]):
        slowest = min(line.bandwidth for line in [own, *others])
        assert least_time(SIZE, [own, *others]) >= SIZE / slowest * (1 - 1e-9)

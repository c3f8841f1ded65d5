import os
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.swarm.state.update_chain import LENGTH, Mark, ReportedChain, canonical_fork_of, extended, trail_of

Way = tuple[Mark, ...]


def way(epochs: int, group: int = 2, start: Way = ()) -> Way:
    """A trail that goes on from `start` by so many updates of random numbers."""
    for _ in range(epochs):
        start = extended(start, start[-1].epoch + 1 if start else 1, [os.urandom(8) for _ in range(group)])
    return start


def told(*ways: Way, gives: bool = True) -> list[ReportedChain]:
    return [ReportedChain(bytes([number]), trail, gives) for number, trail in enumerate(ways)]


def others(everybody: Sequence[ReportedChain], number: int) -> list[ReportedChain]:
    return [*everybody[:number], *everybody[number + 1 :]]


def test_those_who_averaged_together_have_the_same_mark_in_whatever_order_they_were_listed() -> None:
    numbers = [os.urandom(8) for _ in range(4)]
    assert extended((), 1, numbers) == extended((), 1, reversed(numbers))


def test_a_mark_differs_forever_once_one_before_it_differed() -> None:
    numbers = [os.urandom(8), os.urandom(8)]
    assert extended(way(1), 2, numbers) != extended(way(1), 2, numbers)
    assert extended(way(1), 2, numbers)[-1].name != extended(way(1), 2, numbers)[-1].name


def test_a_trail_forgets_what_is_long_ago() -> None:
    assert [mark.epoch for mark in way(LENGTH + 3)] == list(range(4, LENGTH + 4))


def test_nobody_changes_over_while_all_go_the_same_way() -> None:
    run = way(5)
    for number in range(4):
        assert canonical_fork_of(run, others(told(run, run, run[:-1], run), number)) is None


def test_the_smaller_group_changes_over_to_the_larger_one() -> None:
    common = way(3)
    large, small = way(3, 3, common), way(3, 1, common)
    everybody = told(large, large, large, small)
    canonical_fork = canonical_fork_of(small, others(everybody, 3))
    assert canonical_fork is not None
    assert canonical_fork.mark == large[3]
    assert canonical_fork.donors == {b"\0", b"\1", b"\2"}
    assert canonical_fork_of(large, others(everybody, 0)) is None


def test_of_one_group_with_different_pasts_most_of_it_is_the_run() -> None:
    numbers = [os.urandom(8) for _ in range(4)]
    # The one came with a state of which it did not know by which updates it was made.
    most, one = extended(way(3), 4, numbers), extended((), 4, numbers)
    most, one = way(2, 4, most), way(2, 4, one)
    everybody = told(most, most, most, one)
    assert canonical_fork_of(one, others(everybody, 3)) is not None
    assert all(canonical_fork_of(most, others(everybody, number)) is None for number in range(3))


@given(st.integers(1, 3), st.integers(1, 3))
def test_exactly_one_of_two_ways_stays_the_run(before: int, after: int) -> None:
    common = way(before)
    one, two = way(1 + after, 2, common), way(1 + after, 2, common)
    everybody = told(one, one, two, two)
    change = [
        canonical_fork_of(peer.trail, others(everybody, number)) is not None for number, peer in enumerate(everybody)
    ]
    assert change in ([True, True, False, False], [False, False, True, True])


def test_a_way_that_began_with_the_newest_update_is_not_judged_yet() -> None:
    common = way(3)
    assert canonical_fork_of(way(1, 1, common), told(way(2, 3, common), way(2, 3, common), way(2, 3, common))) is None


def test_a_way_that_its_own_group_has_left_is_not_changed_over_to() -> None:
    common = way(3)
    boaster = way(3, 50, common)
    assert canonical_fork_of(way(3, 1, common), told(boaster)) is None


def test_a_way_whose_peers_give_no_state_away_is_not_changed_over_to() -> None:
    common = way(3)
    large = way(3, 2, common)
    assert canonical_fork_of(way(3, 1, common), told(large, large, gives=False)) is None


def test_trails_without_a_common_epoch_are_not_compared() -> None:
    run = way(LENGTH * 2)
    assert canonical_fork_of(way(3), told(run, run)) is None


def test_what_is_no_trail_counts_as_none() -> None:
    good = [[1, 2, "00" * 8]]
    assert trail_of(good) == (Mark(1, 2, "00" * 8),)
    for bad in (
        None,
        5,
        "x",
        [[1, 2]],
        [[1, 2, "zz" * 8]],
        [[0, 2, "00" * 8]],
        [[1, 0, "00" * 8]],
        good * 9,
        [[1, 2, b""]],
    ):
        assert trail_of(bad) == ()

import os
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.swarm.state.update_chain import (
    LENGTH,
    ChainedUpdate,
    ReportedChain,
    UpdateChain,
    canonical_fork_of,
    chain_of,
    extended,
)


def chain(epochs: int, group: int = 2, start: UpdateChain = ()) -> UpdateChain:
    """One that goes on from `start` by so many updates of random numbers."""
    for _ in range(epochs):
        start = extended(start, start[-1].epoch + 1 if start else 1, [os.urandom(8) for _ in range(group)])
    return start


def reported(*chains: UpdateChain, shares_state: bool = True) -> list[ReportedChain]:
    return [ReportedChain(bytes([number]), updates, shares_state) for number, updates in enumerate(chains)]


def others(everybody: Sequence[ReportedChain], number: int) -> list[ReportedChain]:
    return [*everybody[:number], *everybody[number + 1 :]]


def test_those_who_averaged_together_have_the_same_update_in_whatever_order_they_were_listed() -> None:
    numbers = [os.urandom(8) for _ in range(4)]
    assert extended((), 1, numbers) == extended((), 1, reversed(numbers))


def test_a_digest_differs_forever_once_one_before_it_differed() -> None:
    numbers = [os.urandom(8), os.urandom(8)]
    assert extended(chain(1), 2, numbers) != extended(chain(1), 2, numbers)
    assert extended(chain(1), 2, numbers)[-1].digest != extended(chain(1), 2, numbers)[-1].digest


def test_who_was_given_another_average_is_on_another_fork_and_changes_over() -> None:
    numbers, common = [os.urandom(8) for _ in range(4)], chain(3, 4)
    most, one = (extended(common, 4, numbers, average) for average in (b"average", b"another"))
    most, one = (extended(made, 5, numbers, b"") for made in (most, one))
    everybody = reported(most, most, most, one)
    fork = canonical_fork_of(one, others(everybody, 3))
    assert fork is not None
    assert fork.first == most[3]
    assert canonical_fork_of(most, others(everybody, 0), [bytes([3])]) is None, "also if it is the backbone"


def test_all_change_over_to_the_backbone_where_each_was_given_another_average() -> None:
    numbers, common = [os.urandom(8) for _ in range(4)], chain(3, 4)
    made = [extended(extended(common, 4, numbers, bytes([peer])), 5, numbers) for peer in range(4)]
    everybody, backbone = reported(*made), bytes([3])
    for number in range(3):
        fork = canonical_fork_of(made[number], others(everybody, number), [backbone])
        assert fork is not None
        assert fork.first == made[3][3]
    assert canonical_fork_of(made[3], others(everybody, 3), [backbone], is_backbone=True) is None


def test_a_chain_has_only_the_latest_updates() -> None:
    assert [update.epoch for update in chain(LENGTH + 3)] == list(range(4, LENGTH + 4))


def test_nobody_changes_over_while_all_make_the_same_updates() -> None:
    run = chain(5)
    for number in range(4):
        assert canonical_fork_of(run, others(reported(run, run, run[:-1], run), number)) is None


def test_all_change_over_to_the_fork_of_a_backbone_and_the_backbone_stays() -> None:
    common = chain(3)
    large, small = chain(3, 3, common), chain(3, 1, common)
    everybody, backbone = reported(large, large, large, small), bytes([3])
    for number in range(3):
        fork = canonical_fork_of(large, others(everybody, number), [backbone])
        assert fork is not None
        assert fork.first == small[3]
    assert canonical_fork_of(small, others(everybody, 3), [backbone], is_backbone=True) is None


def test_the_smaller_group_changes_over_to_the_larger_one() -> None:
    common = chain(3)
    large, small = chain(3, 3, common), chain(3, 1, common)
    everybody = reported(large, large, large, small)
    canonical_fork = canonical_fork_of(small, others(everybody, 3))
    assert canonical_fork is not None
    assert canonical_fork.first == large[3]
    assert canonical_fork.donors == {b"\0", b"\1", b"\2"}
    assert canonical_fork_of(large, others(everybody, 0)) is None


def test_of_one_group_with_different_pasts_most_of_it_is_the_run() -> None:
    numbers = [os.urandom(8) for _ in range(4)]
    # The one came with a state of which it did not know by which updates it was made.
    most, one = extended(chain(3), 4, numbers), extended((), 4, numbers)
    most, one = chain(2, 4, most), chain(2, 4, one)
    everybody = reported(most, most, most, one)
    assert canonical_fork_of(one, others(everybody, 3)) is not None
    assert all(canonical_fork_of(most, others(everybody, number)) is None for number in range(3))


@given(st.integers(1, 3), st.integers(1, 3))
def test_exactly_one_of_two_forks_stays_the_run(before: int, after: int) -> None:
    common = chain(before)
    one, two = chain(1 + after, 2, common), chain(1 + after, 2, common)
    everybody = reported(one, one, two, two)
    change = [
        canonical_fork_of(peer.updates, others(everybody, number)) is not None for number, peer in enumerate(everybody)
    ]
    assert change in ([True, True, False, False], [False, False, True, True])


def test_a_fork_that_began_with_the_newest_update_is_not_judged_yet() -> None:
    common = chain(3)
    assert (
        canonical_fork_of(chain(1, 1, common), reported(chain(2, 3, common), chain(2, 3, common), chain(2, 3, common)))
        is None
    )


def test_a_fork_that_its_own_group_has_left_is_not_changed_over_to() -> None:
    common = chain(3)
    boaster = chain(3, 50, common)
    assert canonical_fork_of(chain(3, 1, common), reported(boaster)) is None


def test_a_fork_whose_peers_give_no_state_away_is_not_changed_over_to() -> None:
    common = chain(3)
    large = chain(3, 2, common)
    assert canonical_fork_of(chain(3, 1, common), reported(large, large, shares_state=False)) is None


def test_chains_without_a_common_epoch_are_not_compared() -> None:
    run = chain(LENGTH * 2)
    assert canonical_fork_of(chain(3), reported(run, run)) is None


def test_a_malformed_chain_counts_as_empty() -> None:
    good = [[1, 2, "00" * 16]]
    assert chain_of(good) == (ChainedUpdate(1, 2, "00" * 16),)
    for bad in (
        None,
        5,
        "x",
        [[1, 2]],
        [[1, 2, "zz" * 16]],
        [[0, 2, "00" * 16]],
        [[1, 0, "00" * 16]],
        good * 9,
        [[1, 2, b""]],
    ):
        assert chain_of(bad) == ()

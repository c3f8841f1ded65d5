"""Which members are found to have lied about a round, and who is not believed."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.audit import Rounding, account_in, liars, sums_of
from core.swarm.trust.centered_clip import centered_clip
from core.swarm.trust.parts import DIGEST_SIZE
from tests.swarm.trust.audited_swarm import BAD, LOSSY, ROUNDING, SEED, Swarm

Change = Callable[[torch.Tensor], torch.Tensor]
WRONG: dict[str, Change] = {
    "negated": lambda average: -average,
    "nothing": torch.zeros_like,
    "twice as much": lambda average: 2 * average,
    "noise": lambda average: torch.randn(average.shape, generator=torch.Generator().manual_seed(1)) * 5,
}


@given(st.integers(0, 1 << 20), st.integers(3, 16), st.floats(0.0, 50.0))
def test_nobody_is_blamed_among_honest_members(seed: int, members: int, noise: float) -> None:
    assert Swarm(members, seed, noise).found_by(0) == []


@pytest.mark.parametrize("members", [3, 16])
def test_who_reduces_nothing_has_left_nobody_out(members: int) -> None:
    swarm = Swarm(members)
    swarm.reduces_nothing(BAD - 1)
    said = swarm.said()
    said[BAD - 1] = replace(said[BAD - 1], counted=np.zeros(members))
    assert [swarm.found_by(own, said) for own in range(members)] == [[]] * members


@pytest.mark.parametrize("noise", [0.01, 4.0])
@pytest.mark.parametrize("members", [4, 7, 16])
@pytest.mark.parametrize("change", WRONG)
def test_a_reducer_that_gives_all_a_wrong_average_is_found_by_all_others(
    members: int, change: str, noise: float
) -> None:
    swarm = Swarm(members, noise=noise)
    swarm.give(BAD, WRONG[change](swarm.given[BAD]))
    assert [swarm.found_by(own) for own in range(members) if own != BAD] == [[BAD]] * (members - 1)


@pytest.mark.parametrize("members", [4, 7, 16])
def test_a_reducer_that_gives_one_member_an_average_that_is_hardly_another_is_found_by_that_one(members: int) -> None:
    swarm = Swarm(members)
    swarm.received[0, BAD] *= 1.001
    assert swarm.found_by(0) == [BAD]
    assert [swarm.found_by(own) for own in range(1, members) if own != BAD] == [[]] * (members - 2)


def test_a_reducer_that_gives_each_member_an_average_of_its_own_is_found_by_all_others() -> None:
    swarm = Swarm(7)
    swarm.received[:, BAD] *= 1 + 1e-4 * torch.arange(7)[:, None]
    assert [swarm.found_by(own) for own in range(7) if own != BAD] == [[BAD]] * 6


@pytest.mark.parametrize("said", [b"?" * DIGEST_SIZE, None])
def test_members_with_less_than_half_of_the_samples_cannot_say_that_they_got_something_else(said: bytes | None) -> None:
    swarm = Swarm(16)
    swarm.weights[:] = 16.0
    told = swarm.said()
    for liar in range(7):
        told[liar] = replace(told[liar], received=[said] * 16 if said else [])
    assert [swarm.found_by(own, told) for own in range(7, 16)] == [[]] * 9


@pytest.mark.parametrize("count", [1, 2, 4, 7])
@pytest.mark.parametrize("change", WRONG)
def test_seven_of_sixteen_that_do_so_together_are_found(count: int, change: str) -> None:
    swarm = Swarm(16)
    for reducer in range(count):
        swarm.give(reducer, WRONG[change](swarm.given[reducer]))
    assert [swarm.found_by(own) for own in range(count, 16)] == [list(range(count))] * (16 - count)


def test_they_are_found_if_each_says_that_it_took_what_makes_its_average_right() -> None:
    swarm, bad = Swarm(16), list(range(7))
    for reducer in bad:
        swarm.taken[:, reducer] *= -1
        swarm.brought[bad, reducer] *= -1
        swarm.give(reducer, swarm.centre(reducer))
    assert [swarm.found_by(own) for own in range(7, 16)] == [bad] * 9


def test_who_is_said_to_have_brought_something_else_knows_better() -> None:
    swarm = Swarm(16)
    swarm.taken[8:12, BAD] *= -1
    swarm.give(BAD, swarm.centre(BAD))
    assert [swarm.found_by(own) for own in range(8, 12)] == [[BAD]] * 4


def test_a_reducer_cannot_leave_a_member_out_of_what_it_says_that_it_counted() -> None:
    swarm = Swarm(5, noise=0.0)
    swarm.brought[:2, BAD] *= -1
    swarm.weights[:] = 16.0
    swarm.taken = swarm.brought.clone()
    swarm.give(BAD, swarm.taken[0, BAD])
    said = swarm.said()
    assert swarm.found_by(0, said) == [BAD]
    said[BAD] = replace(said[BAD], counted=np.array([16.0, 16.0, 0.0, 0.0, 0.0]))
    assert swarm.found_by(0, said) == [BAD]


@pytest.mark.parametrize(("members", "accomplices"), [(4, 1), (5, 1), (5, 2), (16, 6)])
def test_a_reducer_cannot_make_most_of_its_accomplices_by_what_it_says_that_they_weigh(
    members: int, accomplices: int
) -> None:
    swarm = Swarm(members, noise=1.0)
    swarm.weights[:] = 16.0
    others = [member for member in range(members) if member != BAD]
    swarm.brought[others[:accomplices]] *= -1000
    swarm.taken = swarm.brought.clone()
    for reducer in range(members):
        swarm.give(reducer, swarm.centre(reducer))
    counted = np.full(members, 8.0)
    counted[others[:accomplices]] = 32.0
    swarm.give(BAD, centered_clip(list(swarm.taken[:, BAD]), list(counted)))
    said = swarm.said()
    said[BAD] = replace(said[BAD], counted=counted)
    honest = others[accomplices:]
    assert [swarm.found_by(own, said) for own in honest] == [[BAD]] * len(honest)


@pytest.mark.parametrize("limit", [16.0, 20.0, 31.0])
def test_reducers_that_limit_weights_more_than_the_auditor_does_are_not_blamed(limit: float) -> None:
    for seed in range(20):
        swarm = Swarm(6, seed)
        swarm.weights = np.minimum(swarm.weights, limit)
        for reducer in range(6):
            swarm.give(reducer, swarm.centre(reducer))
        said = {
            member: replace(account, weight=2 * account.weight) if account.weight == limit else account
            for member, account in swarm.said().items()
        }
        received = [sums_of([(0, average)], SEED, reducer) for reducer, average in enumerate(swarm.received[0])]
        most, rounding = [2 * limit] * 6, Rounding(ROUNDING, LOSSY, [0.0] * 6)
        assert liars(0, said, np.array(received), most, shares=swarm.shares, rounding=rounding) == []


def test_it_is_found_with_weight_zero_and_without_the_word_of_those_that_cannot_be_called() -> None:
    swarm = Swarm(8)
    swarm.give(BAD, -swarm.given[BAD])
    swarm.weights[0] = 0.0
    said = swarm.said()
    assert swarm.found_by(0, {member: said[member] for member in (0, 1, BAD, 4, 5)}) == [BAD]


def test_who_gets_another_average_than_the_others_finds_it() -> None:
    swarm = Swarm(8)
    swarm.received[0, BAD] *= -1
    assert swarm.found_by(0) == [BAD]
    assert swarm.found_by(1) == []


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_less_than_half_that_lie_about_what_they_brought_set_nobody_against_a_reducer(count: int) -> None:
    swarm = Swarm(16)
    honest, lying = np.split(np.argsort(-swarm.weights), [16 - count])
    swarm.brought[lying] *= -1000
    swarm.taken[:, lying] *= -1
    assert not any(set(honest) & set(swarm.found_by(int(own))) for own in honest)


def test_who_was_dropped_and_says_that_it_brought_something_sets_nobody_against_the_reducers() -> None:
    swarm = Swarm(16, noise=0.1)
    honest, dropped = np.split(np.argsort(-swarm.weights), [9])
    swarm.taken[dropped] = 0.0
    said = swarm.said()
    for account in said.values():
        account.counted[dropped] = 0.0
    assert not set(honest) & set(swarm.found_by(int(honest[0]), said))


def test_a_reducer_may_leave_out_whom_it_distrusts_but_not_most() -> None:
    def found_by_all(left_out: list[int]) -> list[list[int]]:
        swarm = Swarm(6)
        swarm.weights[:] = 16.0
        said = swarm.leave_out(left_out, BAD)
        return [swarm.found_by(own, said) for own in range(6) if own != BAD]

    assert found_by_all([1]) == [[]] * 5
    assert found_by_all([0, 1, 2, 4]) == [[BAD]] * 5


@pytest.mark.parametrize("weight", [17.0, 31.0, 1e9])
def test_a_liar_with_less_than_half_of_the_samples_sets_nobody_against_who_leaves_it_out(weight: float) -> None:
    """Two equal members and a backbone, which has none; what the liar says that it has counts only as far as known."""
    swarm = Swarm(4)
    swarm.weights[:] = 16.0, 0.0, 31.0, 16.0
    said = swarm.leave_out([2], BAD)
    said[2] = replace(said[2], weight=weight)
    most = [32.0, 0.0, 62.0, 32.0]
    received = [sums_of([(0, average)], SEED, reducer) for reducer, average in enumerate(swarm.received[0])]
    rounding = Rounding(ROUNDING, LOSSY, [0.0] * 4)
    for own in (0, 1):
        assert BAD not in liars(own, said, np.array(received), most, shares=swarm.shares, rounding=rounding)


def test_whom_the_auditor_distrusts_itself_may_be_left_out_and_has_no_voice() -> None:
    swarm = Swarm(4)
    swarm.weights[:] = 16.0, 16.0, 64.0, 16.0
    said = swarm.leave_out([2], BAD)
    said[2].brought[0] *= -1
    assert swarm.found_by(1, said) == [0, BAD]
    assert swarm.found_by(1, said, distrusted=[2]) == []


@pytest.mark.parametrize("times", [2.0, 2.5, 3.0, 3.5, 4.0])
def test_a_member_that_is_just_too_far_from_the_others_sets_nobody_against_a_reducer(times: float) -> None:
    for seed in range(20):
        swarm = Swarm(4, seed)
        swarm.weights[:] = 16.0
        swarm.brought[1] *= times
        swarm.taken = swarm.brought.clone()
        for reducer in range(4):
            swarm.give(reducer, swarm.centre(reducer))
        assert swarm.found_by(0) == []


def test_many_keys_that_may_weigh_little_set_nobody_against_a_reducer() -> None:
    """Three of them that can be called, where most others cannot."""
    swarm, most = Swarm(9), [200.0] * 6 + [20.0] * 3
    swarm.taken[:6, 6:] *= -1
    swarm.brought[6:] *= -1
    said = {member: account for member, account in swarm.said().items() if member in (0, 1, 6, 7, 8)}
    received = [sums_of([(0, average)], SEED, reducer) for reducer, average in enumerate(swarm.received[0])]
    rounding = Rounding(ROUNDING, LOSSY, [0.0] * 9)
    found = liars(0, said, np.array(received), most, shares=swarm.shares, rounding=rounding)
    assert found == [6, 7, 8]


def test_numbers_too_small_for_the_codec_say_nothing() -> None:
    swarm = Swarm(4)
    swarm.brought *= 1e-9
    swarm.taken *= 0
    swarm.given *= 0
    swarm.received *= 0
    assert swarm.found_by(0) == []


def test_two_members_with_samples_cannot_accuse_each_other_of_their_centre() -> None:
    swarm = Swarm(2)
    swarm.give(1, 2 * swarm.given[1])
    assert swarm.found_by(0) == []


def test_an_account_is_read_as_it_was_sent() -> None:
    said = Swarm(3).said()[1]
    read = account_in(said.packed(), 3)
    assert read is not None
    for name in ("brought", "taken", "counted", "given"):
        assert np.allclose(getattr(read, name), getattr(said, name), rtol=1e-6)


def test_an_account_of_other_sizes_or_with_numbers_that_are_not_finite_is_none() -> None:
    said = Swarm(3).said()[1]
    assert account_in(said.packed(), 4) is None
    assert account_in(replace(said, weight=float("nan")).packed(), 3) is None
    assert account_in(replace(said, given=said.given[1:]).packed(), 3) is None
    said.taken[0, 0] = np.inf
    assert account_in(said.packed(), 3) is None


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert account_in(data, 3) is None

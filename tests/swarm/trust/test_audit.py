"""Which reducers are found to have given a wrong average, and who is not believed."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from core.swarm.trust.audit import Account, account_in, sums_of, wrong_reducers
from core.swarm.trust.centered_clip import centered_clip

SIZE = 2048
"""Numbers of each reducer's share."""
SEED = b"0123456789abcdef"
ROUNDING = 0.03
BAD = 3
"""The number of the reducer that cheats."""
Change = Callable[[torch.Tensor], torch.Tensor]
WRONG: dict[str, Change] = {
    "negated": lambda average: -average,
    "nothing": torch.zeros_like,
    "twice as much": lambda average: 2 * average,
    "noise": lambda average: torch.randn(average.shape, generator=torch.Generator().manual_seed(1)) * 5,
}


class Swarm:
    """What the members of a group bring, with so many samples each, and what they get from honest reducers."""

    def __init__(self, members: int, seed: int = 0, noise: float = 4.0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.weights = torch.randint(8, 64, (members,), generator=generator).double().numpy()
        gradient = torch.randn(members, SIZE, generator=generator)
        deviations = torch.randn(members, members, SIZE, generator=generator)
        self.brought = gradient + deviations * noise / torch.from_numpy(self.weights).float().sqrt()[:, None, None]
        centres = [centered_clip(list(self.brought[:, share]), list(self.weights)) for share in range(members)]
        self.received = torch.stack(centres).repeat(members, 1, 1)

    def cheat(self, change: Change, members: slice = slice(None)) -> None:
        self.received[members, BAD] = torch.stack([change(average) for average in self.received[members, BAD]])

    def said(self) -> dict[int, Account]:
        return {
            member: Account(float(weight), *(sums_of([[share] for share in rows], SEED) for rows in (brought, got)))
            for member, (weight, brought, got) in enumerate(zip(self.weights, self.brought, self.received, strict=True))
        }


@given(st.integers(0, 1 << 20), st.integers(3, 16), st.floats(0.0, 50.0))
def test_nobody_is_blamed_among_honest_members(seed: int, members: int, noise: float) -> None:
    assert wrong_reducers(0, Swarm(members, seed, noise).said(), members, ROUNDING) == []


@pytest.mark.parametrize("members", [4, 7, 16])
@pytest.mark.parametrize("change", WRONG)
def test_a_reducer_that_gives_all_a_wrong_average_is_found_by_all_others(members: int, change: str) -> None:
    swarm = Swarm(members)
    swarm.cheat(WRONG[change])
    said = swarm.said()
    found = [wrong_reducers(own, said, members, ROUNDING) for own in range(members) if own != BAD]
    assert found == [[BAD]] * (members - 1)


def test_it_is_found_with_weight_zero_and_without_the_word_of_those_that_cannot_be_called() -> None:
    swarm = Swarm(8)
    swarm.cheat(WRONG["negated"])
    swarm.weights[0] = 0.0
    said = swarm.said()
    assert wrong_reducers(0, {member: said[member] for member in (0, 1, 2, 4, 5)}, 8, ROUNDING) == [BAD]


def test_who_gets_another_average_than_the_others_finds_it() -> None:
    swarm = Swarm(8)
    swarm.cheat(WRONG["negated"], slice(0, 1))
    assert wrong_reducers(0, swarm.said(), 8, ROUNDING) == [BAD]


@pytest.mark.parametrize("liars", [1, 2, 4])
def test_members_that_lie_about_what_they_brought_and_got_set_nobody_against_a_reducer(liars: int) -> None:
    swarm = Swarm(16)
    swarm.brought[-liars:] *= -1000
    swarm.received[-liars:] *= -1
    assert wrong_reducers(0, swarm.said(), 16, ROUNDING) == []


def test_if_most_reducers_seem_to_be_wrong_the_answers_are() -> None:
    swarm = Swarm(16)
    swarm.brought[4:] += 5.0
    assert wrong_reducers(0, swarm.said(), 16, ROUNDING) == []


def test_two_members_with_samples_cannot_accuse_each_other() -> None:
    swarm = Swarm(2)
    assert wrong_reducers(0, swarm.said(), 2, ROUNDING) == []


def test_a_account_is_read_as_it_was_sent_with_a_weight_that_counts() -> None:
    said = Swarm(3).said()[1]
    read = account_in(said.packed(), 3, 5.0)
    assert read is not None
    assert read.weight == 5.0
    assert np.array_equal(read.brought, said.brought)
    assert np.array_equal(read.received, said.received)


def test_a_account_of_other_sizes_or_with_numbers_that_are_not_finite_is_none() -> None:
    said = Swarm(3).said()[1]
    assert account_in(said.packed(), 4, 5.0) is None
    assert account_in(Account(float("nan"), said.brought, said.received).packed(), 3, 5.0) is None
    said.received[0, 0] = np.inf
    assert account_in(said.packed(), 3, 5.0) is None


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(data: bytes) -> None:
    assert account_in(data, 3, 5.0) is None


def test_distances_between_sums_are_those_between_vectors_give_or_take_some() -> None:
    one, other = torch.randn(2, 100_003, generator=torch.Generator().manual_seed(0))
    pieces = one.split([60_000, 40_003])
    distance = np.linalg.norm(sums_of([pieces], SEED) - sums_of([other.split([60_000, 40_003])], SEED))
    assert distance == pytest.approx(float((one - other).norm()), rel=0.6)

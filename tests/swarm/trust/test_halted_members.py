"""Who is found to have lied in a round in which a member halted: some of its parts count, and others never came."""

import pytest
import torch

from core.swarm.trust.centered_clip import centered_clip
from tests.swarm.trust.audited_swarm import BAD, SIZE, Swarm


@pytest.mark.parametrize("lost", [[0], [0, 4]])
def test_a_member_that_halted_in_the_round_sets_nobody_against_the_reducers_and_is_not_blamed(lost: list[int]) -> None:
    """Only half of its numbers came to some of the reducers, and it has more than half of the samples."""
    swarm = Swarm(5)
    swarm.weights[2] = 180.0
    for reducer in lost:
        half = SIZE // 2
        swarm.taken[2, reducer, half:] = 0.0
        rest = [0, 1, 3, 4]
        later = centered_clip(list(swarm.brought[rest, reducer, half:]), list(swarm.weights[rest]))
        swarm.give(reducer, torch.cat([swarm.centre(reducer)[:half], later]))
    blamed = [swarm.found_by(own) for own in (0, 1, 3, 4)]
    assert 2 in {liar for found in blamed for liar in found}, "without knowing that it halted"
    assert [swarm.found_by(own, incomplete=[2]) for own in (0, 1, 3, 4)] == [[]] * 4


def test_a_reducer_that_lies_is_found_also_in_a_round_in_which_another_member_halted() -> None:
    swarm = Swarm(5)
    swarm.give(BAD, -swarm.given[BAD])
    said = swarm.leave_out([2], 0)
    assert [swarm.found_by(own, said, incomplete=[2]) for own in (0, 1, 4)] == [[BAD]] * 3


@pytest.mark.parametrize("members", [5, 8, 16])
def test_an_accomplice_that_halts_shields_no_liar(members: int) -> None:
    swarm = Swarm(members)
    swarm.weights[2] = 8.0
    for reducer in range(members):
        swarm.give(reducer, swarm.centre(reducer))
    swarm.give(BAD, -swarm.given[BAD])
    honest = [own for own in range(members) if own not in (2, BAD)]
    assert [swarm.found_by(own, incomplete=[2]) for own in honest] == [[BAD]] * len(honest)


@pytest.mark.parametrize("members", [4, 5, 8, 16])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7])
@pytest.mark.parametrize("came", [0.1, 0.5, 0.9])
def test_no_honest_reducer_is_blamed_for_what_came_of_a_member_that_halted(
    members: int, share: float, came: float
) -> None:
    swarm, halted, size = Swarm(members), members - 1, int(SIZE * came)
    rest = list(range(halted))
    swarm.weights[halted] = share / (1 - share) * swarm.weights[:halted].sum()
    for reducer in range(members):
        swarm.give(reducer, swarm.centre(reducer))
    swarm.taken[halted, 0, size:] = 0.0
    later = centered_clip(list(swarm.brought[rest, 0, size:]), list(swarm.weights[rest]))
    swarm.give(0, torch.cat([swarm.centre(0)[:size], later]))
    assert [swarm.found_by(own, incomplete=[halted]) for own in rest[1:]] == [[]] * (members - 2)

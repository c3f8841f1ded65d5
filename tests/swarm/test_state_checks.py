"""When a state may be used, and when a local copy is the run's present state."""

import pytest

from core.swarm.state_checks import BadState, check_epoch, is_still_present, newest_plausible


@pytest.mark.parametrize("epoch", [7, 8, 23])
def test_an_epoch_between_the_oldest_of_use_and_the_newest_plausible_is_taken(epoch: int) -> None:
    assert check_epoch(epoch, 7, newest_plausible(7)) == epoch


@pytest.mark.parametrize("epoch", [6, -1, 24, 10**6, None, "7", 7.0, True])
def test_any_other_epoch_is_refused(epoch: object) -> None:
    with pytest.raises(BadState):
        check_epoch(epoch, 7, newest_plausible(7))


@pytest.mark.parametrize(
    ("copy", "reported", "offered", "present"),
    [
        (7, 7, 7, True),
        # Peers give the epoch they had a moment ago, while one of them is already at the next.
        (7, 8, 7, False),
        # One behind offers, all are where the copy is.
        (7, 7, 6, True),
        # The run went back to an older checkpoint: a copy ahead of it would draw the others after it.
        (9, 7, 7, False),
        # Nobody works; the backbone has kept an older state, the same one, a newer one, or none.
        (7, None, 5, True),
        (7, None, 7, True),
        (7, None, 8, False),
        (7, None, None, True),
    ],
)
def test_a_copy_is_present_only_at_the_very_epoch_that_others_work_on(
    copy: int, reported: int | None, offered: int | None, present: bool
) -> None:
    assert is_still_present(copy, reported, offered) is present

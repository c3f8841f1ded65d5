"""Which sessions validate other peers."""

from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
import torch

from core.api.project.tasks import MaskedLanguageModelling, Swav
from core.learning.order import Piece
from core.trainer.build import peer_validation_of
from core.trainer.microbatch import Stopped
from core.trainer.peer_validation import SHARE, NoPeerValidation, PeerValidation
from tests.learning.small_project import small_manifest


@pytest.mark.parametrize(
    ("task", "kind"),
    [
        (MaskedLanguageModelling(sequence_length=16), PeerValidation),
        (Swav(), PeerValidation),
        (Swav(queue_length=64), NoPeerValidation),
    ],
)
def test_nobody_validates_what_cannot_be_computed_again(task: Any, kind: type) -> None:
    """With a queue of its own, another peer's gradients would look wrong."""
    manifest = msgspec.structs.replace(small_manifest(), task=task)
    assert type(peer_validation_of(Mock(), Mock(), Mock(), manifest)) is kind


def test_a_validation_that_a_pause_interrupts_is_given_up_and_judges_nobody() -> None:
    """The gradients of a piece are missing: what is left would not be those of the member."""
    optimizer = Mock(client_mode=False, is_one_group=True)
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: 1e9)
    validation._due_at = 0.0
    validation._recent, validation._spent = {3: []}, 20.0
    validation._case = Mock(is_found=True, pieces=[])
    validation._case.recomputation.step.side_effect = Stopped
    with pytest.raises(Stopped):
        validation.step()
    assert validation._case is None
    assert validation._due_at >= 1e9
    assert not validation._recent, "parameters of the next case are others"
    assert validation._spent == 0.0
    optimizer.distrust.ban.assert_not_called()
    optimizer.work.accuse.assert_not_called()


def test_a_case_that_takes_too_long_is_given_up_and_judges_nobody() -> None:
    optimizer, now = Mock(client_mode=False, is_one_group=True), [1e9]

    def compute() -> bool:
        now[0] += 70.0
        return True

    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: now[0])
    validation._case = Mock(is_found=True, pieces=[])
    validation._case.recomputation.step.side_effect = compute
    for _step in range(9):
        now[0] = max(now[0], validation._due_at)
        validation.step()
        assert validation._case is not None or _step == 8
    assert validation._case is None
    assert validation._due_at > now[0] + 0.4 * 630 / SHARE
    optimizer.distrust.ban.assert_not_called()


def test_a_case_that_does_not_fit_into_the_memory_is_given_up() -> None:
    optimizer = Mock(client_mode=False)
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, largest=lambda: 4)
    for count, is_given_up in ((5, True), (4, False)):
        validation._due_at = 0.0
        validation._case = Mock(is_found=True, pieces=[Piece(5, 0, count)], recomputation=Mock())
        validation.step()
        assert (validation._case is None) == is_given_up
    optimizer.distrust.ban.assert_not_called()


def test_whether_a_portion_is_here_is_asked_once_for_all_pieces_of_a_case() -> None:
    asked = list[int]()

    def has_portion(portion: int) -> bool:
        asked.append(portion)
        return True

    validation = PeerValidation(
        Mock(client_mode=False), torch.nn.Linear(1, 1), Mock(),
        tolerance=0.1, portions=3, has_portion=has_portion, clock=lambda: 1e9,
    )  # fmt: skip
    validation._due_at = 0.0
    validation._case = Mock(is_found=True, pieces=[Piece(5, at, 1, 2) for at in range(1000)])
    validation.step()
    assert asked == [2]

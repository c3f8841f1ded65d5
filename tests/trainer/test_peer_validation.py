"""Which sessions validate other peers."""

from typing import Any
from unittest.mock import Mock

import msgspec
import pytest
import torch

from core.api.project.tasks import MaskedLanguageModelling, Swav
from core.trainer.build import peer_validation_of
from core.trainer.microbatch import Stopped
from core.trainer.peer_validation import NoPeerValidation, PeerValidation
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
    assert type(peer_validation_of(Mock(), Mock(), Mock(), manifest, Mock())) is kind


def test_a_validation_that_a_pause_interrupts_is_given_up_and_judges_nobody() -> None:
    """The gradients of a piece are missing: what is left would not be those of the member."""
    optimizer = Mock(client_mode=False, is_one_group=True)
    validation = PeerValidation(optimizer, torch.nn.Linear(1, 1), Mock(), tolerance=0.1, clock=lambda: 1e9)
    validation._due_at = 0.0
    validation._case = Mock(is_found=True, pieces=[])
    validation._case.recomputation.step.side_effect = Stopped
    with pytest.raises(Stopped):
        validation.step()
    assert validation._case is None
    optimizer.distrust.ban.assert_not_called()
    optimizer.work.accuse.assert_not_called()

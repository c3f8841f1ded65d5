"""Which sessions validate other peers."""

from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from core.api.project.tasks import MaskedLanguageModelling, Swav
from core.trainer.build import peer_validation_of
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
    assert type(peer_validation_of(Mock(), Mock(), Mock(), manifest)) is kind

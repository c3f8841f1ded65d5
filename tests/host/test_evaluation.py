"""What the backbone keeps of an evaluation."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.api.project.demonstration import Demonstration, Span
from core.api.project.projects import Figure
from core.host.backbone import Backbone
from core.host.curve import Curve
from core.host.loss_jump import JumpDetector
from core.learning.tasks.task import Evaluation
from core.swarm.state.checks import State


@pytest.fixture
def curve(tmp_path: Path) -> Iterator[Curve]:
    opened = Curve(tmp_path, "run", most_samples=1000)
    yield opened
    opened.close()


def evaluated(backbone: Backbone, epoch: int, loss: float, text: str | None) -> None:
    shown = None if text is None else Demonstration("continued_text", (Span(text, is_made=True),))
    found = Evaluation(loss, Figure("perplexity", 2.0), demonstration=shown)
    state: State = ({"epoch": epoch}, [])
    backbone.auxiliary = SimpleNamespace(is_going_back=False, evaluated=lambda: (state, found))  # type: ignore[assignment]
    backbone._evaluate_and_save(1.0, checkpoint_every=1 << 40)


def test_the_demonstration_is_the_last_good_evaluations_with_epoch_and_figure(curve: Curve) -> None:
    # Without its peers: only the evaluation is of interest.
    backbone: Any = object.__new__(Backbone)
    backbone.curve, backbone._jumps, backbone._last_checkpoint = curve, JumpDetector(), 0
    backbone._go_back = lambda *_: None
    evaluated(backbone, 7, 5.0, "first")
    assert curve.demonstration == Demonstration(
        "continued_text", (Span("first", is_made=True),), None, 7, Figure("perplexity", 2.0)
    )
    evaluated(backbone, 9, 4.9, None)
    assert curve.demonstration.epoch == 7, "a task without one leaves it"
    evaluated(backbone, 10, 4.8, "second")
    evaluated(backbone, 11, 1e4, "spoilt")
    assert curve.demonstration is not None
    assert (curve.demonstration.epoch, curve.demonstration.spans[0].text) == (10, "second")

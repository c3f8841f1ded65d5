"""Every task and every measure of one has words."""

from types import UnionType
from typing import get_args

import pytest

from app.text import tasks
from core.api.project.projects import Figure
from core.api.project.tasks import Task


def test_every_task_of_a_manifest_has_words() -> None:
    assert isinstance(Task, UnionType)
    for declared in get_args(Task):
        name = declared.__struct_config__.tag
        assert tasks.task(name) != name.replace("_", " ")


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (Figure("perplexity", 187.23), "perplexity 187"),
        (Figure("masked_accuracy", 0.418), "42 % of the masked tokens right"),
        (Figure("bits_per_byte", 1.25), "bits per byte 1.2"),
    ],
)
def test_a_figure_is_worded_with_its_value(figure: Figure, words: str) -> None:
    assert tasks.figure(figure).replace("\N{NO-BREAK SPACE}", " ") == words


def test_a_task_that_is_not_known_here_is_shown_by_its_name() -> None:
    assert tasks.task("image_classification") == "image classification"

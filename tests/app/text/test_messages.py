"""Messages of the engine in sentences."""

from app.text.messages import sentence
from core.api.message import Message


def test_parameters_are_written_with_their_unit() -> None:
    assert sentence(Message("disk_full", {"path": "/data"})) == "The disk is full. Free some space for /data."


def test_a_kind_without_words_is_shown_as_it_is() -> None:
    assert sentence(Message("heat_death", {"age": 3})) == "heat_death age=3"

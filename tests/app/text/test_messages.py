"""Messages of the engine in sentences."""

import pytest

from app.text.formats.numbers import size
from app.text.messages import sentence
from core.api.message import Message


def test_parameters_are_written_with_their_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.text.messages.WORDINGS", {"little": "{free:size} are free in {path}."})
    assert sentence(Message("little", {"free": 2_000_000, "path": "/data"})) == f"{size(2_000_000)} are free in /data."


def test_a_message_in_a_message_and_lists_are_worded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"outer": "{names}: {cause}", "inner": "It is {what}."}
    monkeypatch.setattr("app.text.messages.WORDINGS", table)
    outer = Message("outer", {"names": ["a", "b"], "cause": Message("inner", {"what": "late"})})
    assert sentence(outer) == "a, b: It is late."


def test_a_kind_without_words_is_shown_as_it_is() -> None:
    assert sentence(Message("heat_death", {"age": 3})) == "heat_death age=3"


def test_a_parameter_that_is_not_there_leaves_a_gap_and_raises_nothing() -> None:
    assert sentence(Message("disk_full")) == "The disk is full. Free some space for …."

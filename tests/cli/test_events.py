"""`idlehive events`."""

import json

from core.api.message import Message
from core.api.record.events import GetEvents, PastEvent
from tests.cli.conftest import RunCli
from tests.fakes.scripted_engine import ScriptedEngine

BUSY = PastEvent("state", Message("processor_busy", {"share": 0.9, "limit": 0.75}), 1e9, "birds", "Birdsong")


def test_what_has_happened_is_told_in_sentences(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetEvents, [BUSY])
    said = run_cli("events", "--project", "birds").stdout.strip()
    assert said.endswith("  Birdsong  The processor is busy: waiting.")
    assert engine.received(GetEvents) == [GetEvents("birds")]
    assert json.loads(run_cli("events", "--json").stdout)[0]["message"]["kind"] == "processor_busy"


def test_nothing_yet_is_said(engine: ScriptedEngine, run_cli: RunCli) -> None:
    engine.answer(GetEvents, [])
    assert run_cli("events").stdout == "Nothing has happened yet.\n"

"""The record asked for, exported, imported and deleted through a real engine, and what a kill leaves of it."""

import os
import signal
import time
from pathlib import Path
from types import NoneType

import msgspec
import pytest

from core.api.errors import UsageError, WorldError
from core.api.intent import Pause
from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.record.record import (
    Contribution,
    DeleteHistory,
    ExportHistory,
    GetHabits,
    GetHistory,
    GetOverview,
    GetSessions,
    Habits,
    ImportHistory,
    Overview,
    SessionGiven,
    Sums,
    Written,
    cost_of,
)
from core.engine.recorder import FLUSH_EVERY
from core.store.export import exchange
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for


def overview(engine: RunningEngine) -> Overview:
    return engine.ask(GetOverview(), Overview)


def test_what_is_given_is_in_the_overview_at_once(engine: RunningEngine) -> None:
    engine.start().contribute()
    shown = wait_for(lambda: next((o for o in [overview(engine)] if o.sums.samples > 50), None))
    assert shown is not None
    assert (shown.sessions, shown.projects[0].project, shown.bucket) == (1, "practice", "hour")
    assert sum(bar.seconds for bar in shown.bars) == pytest.approx(shown.sums.seconds)
    [session] = engine.ask(GetSessions(), list[SessionGiven])
    assert (session.project, session.ended_at, session.ending) == ("practice", None, None)


def test_time_on_hold_is_told_by_its_reason(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.ask(Pause(), NoneType)
    engine.until("holding")
    idle = wait_for(lambda: engine.ask(GetHabits(), Habits).idle.get("paused", 0.0))
    assert 0.0 < idle < 60.0


def test_a_kill_loses_ten_seconds_at_most(engine: RunningEngine) -> None:
    assert FLUSH_EVERY <= 10.0
    engine.patience["core.engine.recorder.FLUSH_EVERY"] = 2.0
    engine.start().contribute()
    wait_for(lambda: overview(engine).sums.seconds > 3.0, 30.0)
    before = overview(engine)
    killed = engine.pid
    os.kill(killed, signal.SIGKILL)
    engine.start()
    after = overview(engine)
    assert before.sums.seconds - 2.5 <= after.sums.seconds <= before.sums.seconds + 1.0
    sessions = engine.ask(GetSessions(), list[SessionGiven])
    last = sessions[-1]
    assert last.ending == Message("engine_killed")
    assert last.ended_at is not None
    assert time.time() - last.ended_at < 60


def test_an_export_is_imported_elsewhere_and_deletion_is_final(engine: RunningEngine, tmp_path: Path) -> None:
    engine.start().contribute()
    wait_for(lambda: overview(engine).sums.samples > 20)
    engine.ask(Pause(), NoneType)
    engine.until("holding")
    path = tmp_path / "history.json"
    written = engine.ask(ExportHistory(str(path)), Written)
    assert (written.sessions, len(exchange.read(path).sessions)) == (1, 1)
    given = overview(engine).sums
    engine.ask(DeleteHistory(everything=True), NoneType)
    assert overview(engine).sums.samples == 0
    assert engine.ask(GetHistory(), list[Contribution]) == []
    assert engine.ask(ImportHistory(str(path)), Written).new_hours == written.hours
    assert engine.ask(ImportHistory(str(path)), Written).new_hours == 0
    assert overview(engine).sums.samples == given.samples


def test_files_that_cannot_be_written_or_read_are_told_in_a_sentence(engine: RunningEngine, tmp_path: Path) -> None:
    engine.start()
    with pytest.raises(WorldError, match=r"^file_not_written path=.*nowhere/h\.json detail=No such file or directory$"):
        engine.ask(ExportHistory(str(tmp_path / "nowhere" / "h.json")), Written)
    with pytest.raises(UsageError, match="path_not_absolute"):
        engine.ask(ExportHistory("h.json"), Written)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(UsageError, match=r"not_a_history path=.*notes\.txt"):
        engine.ask(ImportHistory(str(tmp_path / "notes.txt")), Written)
    assert sorted(found.name for found in tmp_path.iterdir() if found.suffix == ".part") == []


def test_cost_and_carbon_are_told_once_the_volunteer_has_told_their_figures(engine: RunningEngine) -> None:
    engine.start()
    for name, value in (("energy_price", 312), ("currency", "EUR"), ("grid_factor", 400)):
        assert engine.ask(SetPreference(name, value), PreferenceInfo).value == value
    assert overview(engine).cost.money is None, "nothing is known of the energy"


@pytest.mark.parametrize(
    ("sums", "told"),
    [
        (Sums(), (None, "", None)),
        (Sums(joules=3.6e6), (0.312, "EUR", 400.0)),
        (Sums(joules=1.8e6, estimated_joules=1.8e6), (0.312, "EUR", 400.0)),
        (Sums(estimated_joules=7.2e6), (0.624, "EUR", 800.0)),
    ],
)
def test_cost_follows_from_energy(sums: Sums, told: tuple[object, ...]) -> None:
    cost = cost_of(sums, {"energy_price": 312, "currency": "EUR", "grid_factor": 400})
    assert msgspec.structs.astuple(cost) == pytest.approx(told) if told[0] else msgspec.structs.astuple(cost) == told
    assert cost_of(sums, {"energy_price": 0, "currency": "", "grid_factor": 0}).money is None

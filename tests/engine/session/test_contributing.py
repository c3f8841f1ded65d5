"""Contributing, pausing and leaving, with a real engine and a scripted trainer."""

import os
import time
from pathlib import Path
from types import NoneType
from typing import Any

import msgspec
import psutil
import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute, Pause, Resume
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference, values_of
from core.api.project.projects import CurvePoint, Figure, GetCurve, LeaveProject, ProjectInfo
from core.api.reasons import Kind
from core.api.record.record import Contribution, GetHistory
from core.api.snapshot import Snapshot
from core.system.priority import PROMPTLY
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for


def test_a_new_profile_is_idle_and_says_why(engine: RunningEngine) -> None:
    snapshot = engine.start().snapshot()
    assert (snapshot.state, snapshot.wanted, snapshot.session) == ("idle", False, None)
    assert [reason.kind for reason in snapshot.reasons] == [Kind.NO_PROJECT]
    assert snapshot.engine_pid == engine.pid


def test_contributing_passes_through_its_states_in_order(engine: RunningEngine) -> None:
    engine.script(every=0.3)
    client = engine.start().client()
    states: list[str] = []
    for message in client.messages(0.2):
        if isinstance(message, Snapshot) and message.state not in states[-1:]:
            states.append(message.state)
        if states == ["idle"]:
            client.request(Contribute(), NoneType)
        if states[-1:] == ["contributing"]:
            break
    assert states == ["idle", "starting", "joining", "syncing", "contributing"]


def test_the_snapshot_shows_the_session(engine: RunningEngine) -> None:
    engine.start().contribute()
    snapshot = wait_for(lambda: next((s for s in [engine.snapshot()] if s.progress.samples > 50), None))
    assert snapshot is not None
    assert (snapshot.project, snapshot.project_name, snapshot.wanted) == ("practice", "Practice", True)
    assert snapshot.traffic.uploaded == snapshot.progress.samples * 7
    assert snapshot.today.samples == snapshot.progress.samples
    assert snapshot.session is not None
    assert "scripted_trainer.py" in " ".join(psutil.Process(snapshot.session.pid).cmdline())


def test_a_pause_is_acknowledged_at_once_and_holds_the_session(engine: RunningEngine) -> None:
    before = engine.start().contribute()
    began = time.monotonic()
    engine.tell(Pause())
    held = engine.snapshot()
    assert time.monotonic() - began < 0.1
    assert (held.state, held.session, [r.kind for r in held.reasons]) == ("holding", before.session, [Kind.PAUSED])
    wait_for(lambda: engine.heard()[-1] == {"type": "Hold"})


def test_the_backbone_is_told_of_limits_and_pauses_too(engine: RunningEngine, tmp_path: Path) -> None:
    path = tmp_path / "host-heard.jsonl"

    def heard() -> list[dict[str, Any]]:
        lines = path.read_text().splitlines() if path.exists() else []
        return [msgspec.json.decode(line) for line in lines]

    engine.script_host(hears=str(path))
    engine.start().contribute()
    engine.tell(Pause())
    engine.tell(Resume())
    wait_for(lambda: [command["type"] for command in heard()] == ["ApplySettings", "Hold", "Resume"])
    engine.ask(SetPreference("threads", 1), PreferenceInfo)
    engine.ask(SetPreference("processor_share", 40), PreferenceInfo)
    wait_for(lambda: heard()[-1].get("settings", {}).get("limits", {}).get("processor_share") == 20)
    wait_for(lambda: engine.heard()[-1]["settings"]["limits"]["processor_share"] == 20)


def test_a_resume_goes_on_in_the_same_session(engine: RunningEngine) -> None:
    before = engine.start().contribute()
    engine.tell(Pause())
    engine.tell(Resume())
    after = engine.snapshot()
    assert (after.state, after.session, after.reasons) == ("contributing", before.session, ())
    wait_for(lambda: [command["type"] for command in engine.heard()] == ["Start", "Hold", "Resume"])


def test_a_snooze_ends_by_itself(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.tell(Pause(seconds=0.7))
    held = engine.snapshot()
    assert held.state == "holding"
    assert held.reasons[0].kind == Kind.SNOOZED
    assert held.reasons[0].until == pytest.approx(time.time() + 0.7, abs=0.3)
    engine.until("contributing", 3.0)


def test_contributing_for_a_while_ends_by_itself(engine: RunningEngine) -> None:
    engine.start().tell(Contribute(seconds=3600.0))
    engine.until("contributing")
    engine.tell(Contribute(seconds=0.5))
    ended = engine.until("idle")
    assert (ended.wanted, ended.session, ended.reasons) == (False, None, ())


def test_contributing_until_an_epoch_ends_there(engine: RunningEngine) -> None:
    engine.start().tell(Contribute(until_epoch=2))
    engine.until("contributing")
    engine.until("idle")
    epochs = [point.epoch for point in engine.ask(GetCurve("practice"), list[CurvePoint]) if point.own_samples]
    assert epochs == [1, 2]
    assert not engine.snapshot().wanted


def test_leaving_the_project_ends_its_session_and_keeps_the_history(engine: RunningEngine) -> None:
    client = engine.start().client()
    list_of_one = client.messages(0.1)
    next(list_of_one)
    engine.contribute()
    info = engine.ask(LeaveProject("practice"), ProjectInfo)
    assert not info.joined
    assert events(client, "left").project == "practice"
    engine.until("idle")
    assert [entry.project for entry in engine.ask(GetHistory(), list[Contribution])] == ["practice"]


def test_limits_go_to_the_trainer_and_survive(engine: RunningEngine) -> None:
    engine.start().contribute()
    assert engine.ask(SetPreference("memory_limit", 8 << 30), PreferenceInfo).effective == 8 << 30
    wait_for(lambda: engine.heard()[-1].get("settings", {}).get("limits", {}).get("memory_limit") == 8 << 30)
    assert engine.snapshot().settings.limits.memory_limit == 8 << 30
    assert engine.quit() == 0
    engine.start()
    assert values_of(engine.ask(ListPreferences(), list[PreferenceInfo]))["memory_limit"] == 8 << 30
    engine.until("contributing")
    assert [c["settings"]["limits"]["memory_limit"] for c in engine.heard() if c["type"] == "Start"] == [0, 8 << 30]
    assert engine.ask(ResetPreference("memory_limit"), PreferenceInfo).value == 0
    with pytest.raises(UsageError, match="preference_out_of_range"):
        engine.ask(SetPreference("threads", -1), PreferenceInfo)
    with pytest.raises(UsageError, match="preference_unknown"):
        engine.ask(SetPreference("colour", 1), PreferenceInfo)


def test_history_grows_by_what_is_given_and_is_kept(engine: RunningEngine) -> None:
    engine.start().contribute()
    given = wait_for(lambda: [c for c in engine.ask(GetHistory(), list[Contribution]) if c.samples > 100])
    assert (given[0].session, given[0].project, given[0].joules) == (1, "practice", None)
    assert given[0].uploaded == given[0].samples * 7
    engine.quit()
    engine.start()
    engine.contribute()
    wait_for(lambda: len(engine.ask(GetHistory(), list[Contribution])) == 2)
    kept = engine.ask(GetHistory(), list[Contribution])[0]
    assert kept.samples >= given[0].samples
    assert kept.samples == kept.downloaded // 5


def test_the_first_contribution_and_every_epoch_are_told(engine: RunningEngine) -> None:
    client = engine.start().client()
    next(client.messages(1.0))
    client.request(Contribute(), NoneType)
    assert events(client, "first_contribution").project == "practice"
    done = events(client, "epoch_done")
    assert (done.epoch, done.loss, done.project) == (1, 4.0, "practice")


def test_the_curve_joins_the_backbones_view_and_ones_own(engine: RunningEngine) -> None:
    engine.start().contribute()
    wait_for(lambda: engine.snapshot().progress.epoch >= 2)
    curve = engine.ask(GetCurve("practice"), list[CurvePoint])
    assert all(point.at > 0 for point in curve)
    curve = [msgspec.structs.replace(point, at=0.0) for point in curve]
    assert curve[0] == CurvePoint(
        epoch=1, loss=5.0, evaluation_loss=5.5, own_samples=50, peers=3, figure=Figure("perplexity", 244.7)
    )
    assert curve[1] == CurvePoint(epoch=2, loss=2.0, evaluation_loss=None, own_samples=50, peers=2)
    engine.tell(Pause())
    engine.quit()
    alone = engine.start().ask(GetCurve("practice"), list[CurvePoint])
    assert msgspec.structs.replace(alone[0], at=0.0) == CurvePoint(
        epoch=1, loss=4.0, evaluation_loss=None, own_samples=50, peers=2
    )


def test_membership_intent_and_pause_survive_a_restart(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.tell(Pause(seconds=3600.0))
    assert engine.quit() == 0
    before = engine.start().snapshot()
    assert (before.state, before.wanted, before.project) == ("idle", True, "practice")
    assert [reason.kind for reason in before.reasons] == [Kind.SNOOZED]
    engine.tell(Resume())
    engine.until("contributing")


def start_arguments(engine: RunningEngine) -> dict[str, bool]:
    """Whether the practice session's two programs start for somebody who waits."""
    programs = {name: f"scripted_{name}.py" for name in ("trainer", "host")}
    return {
        name: PROMPTLY in command
        for name, program in programs.items()
        for command in engine.commands().values()
        if command[1:2] and command[1].endswith(program)
    }


def test_a_session_starts_promptly_only_for_a_person_who_waits(engine: RunningEngine) -> None:
    engine.start().contribute()
    assert start_arguments(engine) == {"trainer": True, "host": True}
    assert engine.quit() == 0
    engine.start().until("contributing")
    assert start_arguments(engine) == {"trainer": False, "host": False}


def test_what_a_trainer_prints_besides_reports_does_no_harm(engine: RunningEngine) -> None:
    engine.script(garbage=True)
    engine.start().contribute()
    wait_for(lambda: engine.snapshot().progress.samples > 50)
    assert "a line that is no report" in engine.log()


def test_the_trainers_log_lines_are_kept(engine: RunningEngine) -> None:
    engine.start().contribute()
    wait_for((engine.home.logs / "trainer.log").exists)
    assert (engine.home.logs / "trainer.log").read_text() == "the scripted trainer starts\n"


def test_state_changes_are_logged_with_their_reasons(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.tell(Pause())
    assert "Contributing -> Holding (paused)" in engine.log()


def test_the_engine_never_loads_what_only_trainers_need(engine: RunningEngine) -> None:
    engine.start().contribute()
    maps = "".join(mapping.path for mapping in psutil.Process(engine.pid).memory_maps())
    for heavy in ("torch", "hivemind", "numpy", "grpc"):
        assert heavy not in maps.replace(os.fspath(engine.home.path), "")


def test_an_engine_stays_small(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.ask(GetCurve("practice"), list[CurvePoint])
    assert psutil.Process(engine.pid).memory_full_info().pss < 45 << 20

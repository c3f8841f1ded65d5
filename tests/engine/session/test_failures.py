"""Sessions that fail: what is said of it, what is tried again, and that nothing is left."""

import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from core.api.intent import Contribute, Pause, Resume
from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.reasons import Kind
from core.api.record.record import ExportHistory, GetSessions, SessionGiven, Written
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for

FIRST_WAIT = "core.system.backoff.FIRST_WAIT"
BACKBONE_GRACE = "core.engine.session.backbone.GRACE"


def test_a_killed_trainer_is_noticed_within_a_second_and_tried_again(engine: RunningEngine) -> None:
    engine.patience[FIRST_WAIT] = 3.0
    engine.script(stragglers=True)
    session = engine.start().contribute().session
    assert session is not None
    client = engine.client()
    next(client.messages(1.0))
    os.kill(session.pid, signal.SIGKILL)
    failed = engine.until("failed", 1.0)
    assert failed.error == Message("process_killed", {"signal": "SIGKILL"})
    assert [reason.kind for reason in failed.reasons] == [Kind.BACKING_OFF]
    assert failed.retry_at == failed.reasons[0].until
    assert failed.retry_at == pytest.approx(time.time() + 3, abs=1.5)
    assert events(client, "session_failed").message == failed.error
    wait_for(lambda: [process.pid for process in engine.members()] == [engine.pid], 2.0)
    again = engine.until("contributing", 12.0)
    assert again.session != session
    assert again.error is None


def test_a_failure_is_told_at_once_even_if_the_backbone_takes_its_time_to_end(engine: RunningEngine) -> None:
    engine.patience |= {BACKBONE_GRACE: 2.0, FIRST_WAIT: 2.0}
    engine.script_host(stays=True)
    session = engine.start().contribute().session
    assert session is not None
    os.kill(session.pid, signal.SIGKILL)
    engine.until("failed", 1.0)
    assert engine.until("contributing", 15.0).session != session
    assert sum("scripted_host.py" in " ".join(command[1:2]) for command in engine.commands().values()) == 1


def test_a_killed_subreaper_takes_nothing_to_hide(engine: RunningEngine) -> None:
    engine.script(stragglers=True)
    session = engine.start().contribute().session
    assert session is not None
    subreaper = psutil.Process(session.pid).parent()
    assert subreaper is not None
    subreaper.kill()
    failed = engine.until("failed", 3.0)
    assert failed.error == Message("process_killed", {"signal": "SIGKILL"})
    wait_for(lambda: [process.pid for process in engine.members()] == [engine.pid], 2.0)
    wait_for(lambda: list(engine.home.runtime.glob("session-*")) == [], 2.0)


def test_a_permanent_fault_gives_up_until_the_volunteer_tries_again(engine: RunningEngine) -> None:
    engine.script(fault="memory_full", permanent=True)
    engine.start().tell(Contribute())
    failed = engine.until("failed")
    assert (failed.error, failed.retry_at) == (Message("memory_full"), None)
    assert [reason.kind for reason in failed.reasons] == [Kind.GAVE_UP]
    assert failed.reasons[0].params == {"failure": failed.error}
    engine.script()
    engine.tell(Resume())
    engine.until("contributing")


def test_a_fault_that_may_pass_is_tried_again_and_shown(engine: RunningEngine) -> None:
    engine.script(fault="peers_not_reached")
    engine.start().tell(Contribute())
    failed = engine.until("failed")
    assert failed.error == Message("peers_not_reached")
    [session] = engine.ask(GetSessions(), list[SessionGiven])
    assert session.ending == failed.error
    assert [reason.kind for reason in failed.reasons] == [Kind.BACKING_OFF]
    engine.tell(Pause())
    paused = engine.until("idle")
    assert [reason.kind for reason in paused.reasons] == [Kind.PAUSED]
    assert paused.error is None


def test_a_trainer_that_ends_by_itself_is_a_failure_too(engine: RunningEngine) -> None:
    engine.script(exit_code=0)
    engine.start().tell(Contribute())
    assert engine.until("failed").error == Message("session_ended")


def test_an_exit_code_is_told(engine: RunningEngine) -> None:
    engine.script(exit_code=3)
    engine.start().tell(Contribute())
    assert engine.until("failed").error == Message("process_ended", {"code": 3})


def test_a_backbone_that_cannot_serve_is_told(engine: RunningEngine) -> None:
    engine.script_host(fault="address_in_use")
    engine.start().tell(Contribute())
    assert engine.until("failed").error == Message("address_in_use")
    wait_for(lambda: [process.pid for process in engine.members()] == [engine.pid], 2.0)


def test_a_backbone_that_ends_takes_the_session_along(engine: RunningEngine) -> None:
    session = engine.start().contribute().session
    assert session is not None
    hosts = [pid for pid, command in engine.commands().items() if "scripted_host.py" in " ".join(command)]
    max(map(psutil.Process, hosts), key=psutil.Process.create_time).kill()
    assert engine.until("failed", 5.0).error == Message("backbone_ended")
    assert [process.pid for process in engine.members()] == [engine.pid]


def test_a_session_that_held_too_much_memory_is_filed_as_that_and_a_higher_limit_lifts_it(
    engine: RunningEngine, tmp_path: Path
) -> None:
    engine.script(fault="memory_over_half", permanent=True)
    engine.start().tell(Contribute())
    failed = engine.until("failed")
    assert (failed.error, failed.retry_at) == (Message("memory_over_half"), None)
    [given] = engine.ask(GetSessions(), list[SessionGiven])
    assert given.ending == Message("memory_over_half")
    engine.ask(ExportHistory(str(tmp_path / "history.csv"), "csv"), Written)
    assert "memory_over_half" in (tmp_path / "history.csv").read_text()
    engine.script()
    engine.ask(SetPreference("upload_limit", 10**6), PreferenceInfo)
    assert engine.snapshot().state == "failed"
    engine.ask(SetPreference("memory_limit", 64 << 30), PreferenceInfo)
    assert engine.until("contributing").error is None

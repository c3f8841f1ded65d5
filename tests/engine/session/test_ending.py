"""Ends of all kinds: asked for, by force, and by failure. Nothing may be left, and nothing goes unsaid."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from core.api.errors import EngineGone
from core.api.intent import Contribute, Pause, Resume
from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.protocol import Quit
from core.api.reasons import Kind
from core.api.record.record import ExportHistory, GetSessions, SessionGiven, Written
from core.api.snapshot import Snapshot
from core.system import orphans
from core.system.orphans import TAG
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for

KILL_AFTER = "core.engine.decision.lifecycle.KILL_AFTER"
FIRST_WAIT = "core.system.backoff.FIRST_WAIT"
BACKBONE_GRACE = "core.engine.session.backbone.GRACE"


def test_quit_ends_the_session_politely_and_leaves_no_process_and_no_socket(engine: RunningEngine) -> None:
    engine.script(stragglers=True)
    engine.start().contribute()
    assert len(engine.members()) >= 7
    assert engine.quit() == 0
    assert engine.members() == []
    assert engine.heard()[-1]["type"] == "Leave"
    assert not engine.home.runtime.exists()


def test_quit_while_a_session_is_starting(engine: RunningEngine) -> None:
    engine.start()
    for delay in (0.0, 0.05, 0.2):
        engine.tell(Contribute())
        time.sleep(delay)
        assert engine.quit() == 0
        assert engine.members() == []
        engine.start()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_means_quit(engine: RunningEngine, number: signal.Signals) -> None:
    engine.start().contribute()
    assert engine.process is not None
    engine.process.send_signal(number)
    assert engine.process.wait(10) == 0
    assert engine.members() == []
    assert engine.heard()[-1]["type"] == "Leave"


@pytest.mark.parametrize(
    "numbers", [(signal.SIGUSR1, signal.SIGTERM), (signal.SIGTERM, signal.SIGUSR1)], ids=lambda them: them[0].name
)
def test_an_engine_that_is_to_end_does_not_start_again(
    engine: RunningEngine, numbers: tuple[signal.Signals, signal.Signals]
) -> None:
    """A package is removed right after it was upgraded, or upgraded while its engine ends."""
    engine.patience[KILL_AFTER] = 2.0
    engine.script(ignores_leave=True)
    engine.start().contribute()
    assert engine.process is not None
    engine.process.send_signal(numbers[0])
    wait_for(lambda: engine.heard()[-1]["type"] == "Leave")
    engine.process.send_signal(numbers[1])
    assert engine.process.wait(20) == 0
    assert engine.members() == []


def test_a_trainer_that_does_not_leave_is_killed(engine: RunningEngine) -> None:
    engine.patience[KILL_AFTER] = 1.5
    engine.script(ignores_leave=True, stragglers=True)
    engine.start().contribute()
    began = time.monotonic()
    assert engine.quit() == 0
    assert 1.5 < time.monotonic() - began < 4.0
    assert engine.members() == []


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not group tasks by session")
def test_a_session_that_is_to_end_has_the_weight_of_other_programs_again(engine: RunningEngine) -> None:
    """At idle priority a busy computer takes half a minute even for the end of a killed process."""
    engine.patience[KILL_AFTER] = 8.0
    engine.script(ignores_leave=True, stands_back=True)
    session = engine.start().contribute().session
    assert session is not None
    assert engine.process is not None
    group = Path(f"/proc/{session.pid}/autogroup")
    assert group.read_text().split()[-1] == "19"
    engine.process.send_signal(signal.SIGTERM)
    wait_for(lambda: group.read_text().split()[-1] == "0", what="a group like any other program's")
    os.kill(session.pid, signal.SIGKILL)


def test_a_killed_engine_leaves_no_process(engine: RunningEngine) -> None:
    engine.script(stragglers=True)
    engine.start().contribute()
    os.kill(engine.pid, signal.SIGKILL)
    wait_for(lambda: engine.members() == [], 8.0)
    assert list(engine.home.runtime.glob("session-*")) == []


def test_the_next_engine_ends_what_a_killed_engine_and_its_killed_subreaperes_left(engine: RunningEngine) -> None:
    engine.patience[KILL_AFTER] = 1.0
    engine.script(stragglers=True, ignores_leave=True)
    engine.start().contribute()
    subreapers = psutil.Process(engine.pid).children()
    os.kill(engine.pid, signal.SIGKILL)
    for subreaper in subreapers:
        subreaper.kill()
    wait_for(lambda: 0 < len(engine.members()) <= 4)
    left = {process.pid for process in engine.members()}
    assert left
    engine.start().until("contributing")
    assert not left & {process.pid for process in engine.members()}
    assert len(list(engine.home.runtime.glob("session-*"))) == 2
    assert "were still there and are ended now" in engine.log()


def test_a_sweep_ends_only_what_carries_the_tag(engine: RunningEngine) -> None:
    engine.home.prepare()
    stale = engine.home.runtime / "session-0"
    stale.mkdir()
    sleeper = [sys.executable, "-c", "import time; time.sleep(60)"]
    ours = subprocess.Popen(sleeper, env={**os.environ, TAG: str(stale)}, start_new_session=True)
    other = subprocess.Popen(sleeper, env={**os.environ, TAG: f"{stale}1"})
    try:
        wait_for(lambda: orphans.processes_of(stale))
        assert orphans.sweep(engine.home.runtime) == 1
        assert ours.wait(5) == -signal.SIGKILL
        assert other.poll() is None
        assert not stale.exists()
    finally:
        other.kill()
        other.wait(5)


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


def test_a_backbone_that_does_not_end_is_killed(engine: RunningEngine) -> None:
    engine.patience[BACKBONE_GRACE] = 0.5
    engine.script_host(stays=True)
    engine.start().contribute()
    assert engine.quit() == 0
    assert engine.members() == []


def test_quit_is_answered_when_it_is_done(engine: RunningEngine) -> None:
    engine.start().contribute()
    engine.tell(Quit())
    assert [process for process in engine.members() if process.pid != engine.pid] == []


def test_after_quit_was_answered_the_next_engine_can_start_at_once(engine: RunningEngine) -> None:
    engine.start()
    for _ in range(3):
        engine.tell(Quit())
        before = engine.process
        assert engine.start().snapshot().state == "idle"
        assert before is not None
        assert before.wait(5) == 0


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


def test_quit_for_all_tells_the_front_ends_that_stay_open(engine: RunningEngine) -> None:
    engine.start()
    watching = engine.client()
    next(watching.messages(0.1))
    engine.tell(Quit(with_front_ends=True))
    assert events(watching, "quitting").message == Message("quitting")


def test_an_engine_that_ends_does_not_claim_to_get_ready(engine: RunningEngine) -> None:
    engine.start().contribute()
    watching = engine.client()
    next(watching.messages())
    engine.quit()
    last = ""
    with suppress(EngineGone):
        for message in watching.messages():
            last = message.state if isinstance(message, Snapshot) else last
    assert last == "leaving"


@pytest.mark.parametrize("resumes", [True, False])
def test_a_start_goes_on_or_waits_as_the_volunteer_chose(engine: RunningEngine, resumes: bool) -> None:
    engine.start().contribute()
    engine.ask(SetPreference("resume_at_start", resumes), PreferenceInfo)
    assert engine.quit() == 0
    assert engine.start().snapshot().wanted is resumes

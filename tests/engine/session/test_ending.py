"""Ends that are asked for or forced: by quit, a signal or a kill. Nothing may be left."""

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
from core.api.intent import Contribute
from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.protocol import Quit
from core.api.snapshot import Snapshot
from core.system import orphans
from core.system.orphans import TAG
from tests.fakes.running_engine import RunningEngine, events
from tests.waiting import wait_for

KILL_AFTER = "core.engine.decision.lifecycle.KILL_AFTER"
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


def test_the_next_engine_ends_what_a_killed_engine_and_its_killed_subreapers_left(engine: RunningEngine) -> None:
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

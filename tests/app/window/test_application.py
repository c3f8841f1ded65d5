"""The program as a whole, as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime
from core.api.message import Message
from core.api.project.projects import GetCurve
from core.api.protocol import Event, GetSnapshot, Quit, Subscribe
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING, IDLE
from tests.fakes.scripted_engine import ScriptedEngine

ROOT = Path(__file__).parents[3]
PROGRAM = "import sys; from app.window.application import open_app; sys.exit(open_app([]))"
HEAVY = ("torch", "hivemind", "transformers", "numpy", "requests", "hmac")

Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def start(profile: Profile) -> Iterator[Start]:
    """Start the program with some Python code around it."""
    running: list[subprocess.Popen[str]] = []

    def run(code: str = PROGRAM, **variables: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "IDLEHIVE_HOME": str(profile.path), "QT_QPA_PLATFORM": "offscreen", **variables}
        process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True
        )
        running.append(process)
        return process

    yield run
    for process in running:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def contributing(engine: ScriptedEngine) -> ScriptedEngine:
    engine.show(CONTRIBUTING)
    return engine


def test_a_second_window_raises_the_first_and_ends(start: Start, contributing: ScriptedEngine) -> None:
    first = start()
    contributing.wait_for(Subscribe, seconds=15)
    second = start()
    assert second.wait(15) == 0
    assert first.poll() is None
    assert len(contributing.received(Subscribe)) == 1


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_closes_it_politely_and_the_session_goes_on(
    start: Start, contributing: ScriptedEngine, which: signal.Signals
) -> None:
    process = start()
    contributing.wait_for(GetCurve, seconds=15)
    process.send_signal(which)
    assert process.wait(10) == 0
    assert contributing.received(Quit) == []


def test_a_signal_takes_an_idle_engine_along(start: Start, engine: ScriptedEngine) -> None:
    engine.show(replace(IDLE, project="birds"))
    process = start()
    engine.wait_for(GetCurve, seconds=15)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    engine.wait_for(Quit)


def test_each_engine_is_asked_once_for_a_missing_compute_runtime(start: Start, engine: ScriptedEngine) -> None:
    missing = replace(IDLE, engine_pid=1, compute=ComputeRuntime())
    engine.show(missing)
    start()
    engine.wait_for(InstallRuntime, seconds=15)
    engine.show(replace(missing, compute=ComputeRuntime(failure=Message("runtime_offline"))))
    engine.wait_for(GetSnapshot)  # the window has seen it
    engine.stop()
    engine.show(replace(missing, engine_pid=2))
    engine.start()
    engine.wait_for(InstallRuntime, 2, seconds=15)
    assert len(engine.received(InstallRuntime)) == len(engine.received(Subscribe)) == 2


def test_nothing_is_set_up_by_itself_where_the_volunteer_has_to_agree(start: Start, engine: ScriptedEngine) -> None:
    engine.show(replace(IDLE, engine_pid=1, compute=ComputeRuntime(needs_consent=True)))
    start()
    engine.wait_for(GetSnapshot, seconds=15)  # the window has seen it
    assert not engine.received(InstallRuntime)


def test_a_window_killed_before_leaves_nothing_in_the_way(start: Start, contributing: ScriptedEngine) -> None:
    first = start()
    contributing.wait_for(Subscribe, seconds=15)
    first.kill()
    first.wait()
    start()
    contributing.wait_for(Subscribe, 2, seconds=15)


def test_the_window_is_there_within_a_second_and_stays_small(start: Start, contributing: ScriptedEngine) -> None:
    process = start(IDLEHIVE_TIMING=str(time.time()))
    assert process.stderr
    lines = (re.search(r"window shown after ([\d.]+) s", text) for text in process.stderr)
    seconds = next(float(found[1]) for found in lines if found)
    assert seconds < 2.0, "one second on a quiet machine; tests share theirs"
    contributing.wait_for(Subscribe, seconds=15)
    assert psutil.Process(process.pid).memory_full_info().pss < 90 << 20


def test_nothing_heavy_is_imported(start: Start, contributing: ScriptedEngine) -> None:
    code = (
        "import sys; from app.window.application import open_app; code = open_app([]); "
        f"heavy = [name for name in {HEAVY} if name in sys.modules]; sys.exit(' '.join(heavy) or code)"
    )
    process = start(code)
    contributing.wait_for(Subscribe, seconds=15)
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0, process.stderr and process.stderr.read()


def test_hours_of_snapshots_do_not_wear_it_out(start: Start, contributing: ScriptedEngine) -> None:
    """PySide6 6.12 drops references to None; thousands of repaints must not end in `deallocating None`."""
    process = start()
    contributing.wait_for(Subscribe, seconds=15)
    for number in range(400):
        contributing.show(
            Snapshot(state="contributing", wanted=True, progress=CONTRIBUTING.progress, engine_pid=number)
        )
        time.sleep(0.003)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0, process.stderr and process.stderr.read()


def test_quitting_from_the_command_line_closes_the_window_too(start: Start, contributing: ScriptedEngine) -> None:
    process = start()
    contributing.wait_for(GetCurve, seconds=15)
    began = time.monotonic()
    # An engine that quits waits until its event is read; `stop` is the end of one that is killed.
    contributing.tell(Event("quitting", Message("quitting"), 1.0))
    assert process.wait(5) == 0
    assert time.monotonic() - began < 2.0

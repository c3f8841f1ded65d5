"""`idlehive contribute` against a scripted engine: how it ends, what it leaves behind, what it says."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psutil
import pytest

from app.cli import contribute, main
from app.cli.contribute import Goal, Outcome, judge, restoring
from core.api.client import ensure_engine
from core.api.errors import UsageError, WorldError
from core.api.home import Home
from core.api.intent import Contribute, Pause
from core.api.messages import Command, Event, Quit
from core.api.reasons import Kind, Reason
from core.api.schedule import Level, ScheduleState
from core.api.snapshot import Progress, Session, Snapshot, Today, Traffic
from tests.cli.conftest import ROOT, RunCli, StartCli
from tests.fakes.scripted_engine import ScriptedEngine

NOW = 1_760_000_000.0
BEFORE = Snapshot(state="idle", engine_pid=4242, today=Today(epochs=17))
AFTER = Snapshot(state="idle", engine_pid=4242, today=Today(120, 15.0, 19))
PAUSED = Reason(Kind.PAUSED, hold=True, text="You paused contributing.")
GAVE_UP = Reason(Kind.GAVE_UP, hold=False, text="The session cannot go on without you: too little memory.")


def active(epoch: int = 17, samples: int = 0, **others: Any) -> Snapshot:
    return Snapshot(
        state="contributing",
        project="bees",
        project_name="Bees",
        wanted=True,
        progress=Progress(epoch, samples, 4.3, 5, 8.2, 102.5, 2600, 310, 4096),
        traffic=Traffic(samples * 1000, samples * 500),
        session=Session(77, NOW),
        today=Today(samples, samples / 8, epoch),
        engine_pid=4242,
        **others,
    )


def overriding(until: float | None) -> Snapshot:
    """Contributing in an hour that is off, half an hour before the schedule's next change."""
    return active(schedule=ScheduleState(Level.OFF, Level.FULL, NOW + 1800, overridden=True, override_until=until))


@pytest.fixture
def obedient(engine: ScriptedEngine) -> ScriptedEngine:
    """An engine that contributes when told to, and is idle when paused."""
    engine.show(BEFORE)
    engine.answer(Contribute, lambda _: engine.show(active()))
    engine.answer(Pause, lambda _: engine.show(AFTER))
    return engine


def wait_for_line(process: "subprocess.Popen[str]", text: str) -> None:
    assert process.stdout
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"{text!r} was never said")


def test_it_ends_with_0_when_the_epoch_is_reached(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "bees", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(18, 60))
    obedient.show(active(19, 120))
    obedient.show(AFTER)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Given: 120 samples towards 2 epochs in 15 s; 120 kB sent, 60 kB received." in out
    assert obedient.received(Contribute) == [Contribute("bees", None, 19)]


def test_an_engine_that_fulfilled_the_goal_by_itself_is_not_paused(
    obedient: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("contribute", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(19, 120))
    obedient.show(BEFORE)
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert not obedient.received(Pause)


def test_it_ends_with_0_when_the_time_is_over(obedient: ScriptedEngine, run_cli: RunCli) -> None:
    done = run_cli("contribute", "--for", "1s")
    assert done.returncode == 0
    assert obedient.received(Contribute) == [Contribute(None, 1, None)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_contributing_and_tells_what_was_given(
    obedient: ScriptedEngine, start_cli: StartCli, number: signal.Signals
) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Given: 120 samples" in out
    assert obedient.received(Pause) == [Pause()]
    assert not obedient.received(Quit)


def test_stopped_before_what_was_agreed_is_code_1(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--for", "2h")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 1


def test_an_engine_that_contributed_before_goes_on(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    obedient.show(active())
    process = start_cli("contribute", "whales")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert "goes on contributing, as before" in out
    assert obedient.received(Contribute) == [Contribute("whales"), Contribute("bees", override="none")]
    assert not obedient.received(Pause)


def test_giving_up_is_code_1_with_the_reason(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(Snapshot(state="failed", reasons=(GAVE_UP,), error="Too little memory.", engine_pid=4242))
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == f"idlehive: {GAVE_UP.text}\n"


def test_a_failure_that_is_tried_again_is_no_end(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(Snapshot(state="failed", error="No network.", retry_at=time.time() + 60, engine_pid=4242))
    wait_for_line(process, "Failed: No network. Trying again at ")
    obedient.show(active())
    wait_for_line(process, "Contributing to Bees")
    assert process.poll() is None


@pytest.mark.parametrize(("error", "code"), [(UsageError("There is no project 'bees'."), 2), (WorldError("No."), 1)])
def test_a_refusal_changes_nothing(
    engine: ScriptedEngine, run_cli: RunCli, error: UsageError | WorldError, code: int
) -> None:
    engine.answer(Contribute, error)
    done = run_cli("contribute", "bees")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"idlehive: {error}\n")
    assert not engine.received(Pause)


def test_an_engine_that_vanishes_is_told(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.stop()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == "idlehive: The engine has ended, so nothing is contributed any more.\n"


def test_a_reader_that_has_had_enough_stops_contributing(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    obedient.tell(Event("epoch_done", "Epoch 18.", NOW, epoch=18, loss=4.2))
    obedient.wait_for(Pause)
    assert process.stderr.read() == ""
    assert process.wait(20) == 1


def test_without_a_terminal_there_is_one_plain_line_for_each_change(
    obedient: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    for samples in range(1, 6):
        obedient.show(active(17, samples))
    obedient.tell(Event("epoch_done", "Epoch 18.", NOW, epoch=18, loss=4.2))
    obedient.tell(Event("epoch_done", "Epoch 19.", NOW, epoch=19))
    obedient.tell(Event("warning", "Bees\x1b[2J closes soon.", NOW))
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(3)]
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in lines)
    assert [line[10:-1] for line in lines] == ["Epoch 18: loss 4.200", "Epoch 19", "Bees [2J closes soon."]


ENGINE = """
import os
from core.api.home import Home
from core.api.snapshot import Snapshot
from tests.fakes.scripted_engine import Script, run
run(Script(snapshots=(Snapshot(state="idle", engine_pid=os.getpid()),)), Home.from_environment())
"""
REFUSING = ENGINE.replace("),)),", "),), refusals={'Contribute': 'There is no such project.'}),")


@pytest.fixture
def own_engine(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Has `contribute` start a given program as its engine; the test fails if it has not ended soon afterwards."""

    def use(code: str) -> None:
        start = partial(ensure_engine, command=[sys.executable, "-c", code])
        monkeypatch.setattr(contribute, "ensure_engine", start)

    before = set(psutil.Process().children())
    yield use
    # What psutil calls children here are the engines: detached, but started by this process.
    left = set(psutil.Process().children()) - before
    _, alive = psutil.wait_procs(left, timeout=5)
    for process in alive:
        process.kill()
    assert not alive


def test_an_engine_that_it_started_is_ended(
    home: Home, own_engine: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    own_engine(ENGINE)
    assert not home.socket.exists()
    assert main(["contribute", "--for", "1s"]) == 0
    assert "Nothing was given this time." in capsys.readouterr().out


def test_an_engine_that_it_started_is_ended_after_a_refusal(
    home: Home, own_engine: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    own_engine(REFUSING)
    assert main(["contribute", "bees"]) == 2
    assert "There is no such project." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("goal", "epoch", "elapsed", "stop", "outcome"),
    [
        (Goal(), 5, 1e6, False, None),
        (Goal(), 5, 0, True, Outcome.STOPPED),
        (Goal(until_epoch=6), 5, 0, False, None),
        (Goal(until_epoch=6), 6, 0, False, Outcome.REACHED),
        (Goal(seconds=10), 0, 9.9, False, None),
        (Goal(seconds=10), 0, 10, False, Outcome.REACHED),
        (Goal(seconds=10), 0, 10, True, Outcome.STOPPED),
    ],
)
def test_the_end_is_judged(goal: Goal, epoch: int, elapsed: float, stop: bool, outcome: Outcome | None) -> None:
    assert judge(active(), goal, epoch, elapsed, stop) is outcome


@pytest.mark.parametrize(
    ("before", "wanted", "command"),
    [
        (BEFORE, True, Pause()),
        (BEFORE, False, None),
        (Snapshot(state="idle", reasons=(PAUSED,), wanted=True), True, Pause()),
        (Snapshot(state="idle", reasons=(Reason(Kind.SNOOZED, True, "x", NOW + 60),)), True, Pause(60.0)),
        (Snapshot(state="idle", reasons=(Reason(Kind.SNOOZED, True, "x", NOW - 60),)), True, Pause()),
        (active(), True, Contribute("bees", override="none")),
        (overriding(None), True, Contribute("bees", override="resumed")),
        (overriding(NOW + 1800), True, Contribute("bees")),
        (overriding(NOW + 60), True, Contribute("bees", 60.0)),
    ],
)
def test_the_intent_of_before_is_brought_back(before: Snapshot, wanted: bool, command: Command | None) -> None:
    assert restoring(before, wanted, NOW) == command


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_the_display_fits_the_terminal(obedient: ScriptedEngine, columns: int) -> None:
    screen = _in_terminal(obedient, columns)
    assert "Contributing to Bees" in screen
    assert "█" in screen
    shown = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line).strip("\r") for line in screen.split("Given:")[0].split("\n")]
    # A carriage return begins the line anew; nothing may have been longer than the terminal.
    assert max(len(part) for line in shown for part in line.split("\r")) <= columns
    assert "Given: 120 samples" in screen.replace("\r\n", " ")


def test_no_color_means_no_colours(obedient: ScriptedEngine) -> None:
    colours = re.compile(r"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7])m")
    assert colours.search(_in_terminal(obedient, 80))
    obedient.show(BEFORE)
    assert not colours.search(_in_terminal(obedient, 80, NO_COLOR="1"))


def _in_terminal(engine: ScriptedEngine, columns: int, **environment: str) -> str:
    """Everything that `contribute` writes to a terminal of so many columns, until it is stopped."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "contribute"],
        cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs, env={**plain, "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(theirs)
    seen, stopped = b"", False
    deadline = time.monotonic() + 20
    try:
        while data := _read(ours):
            seen += data
            assert time.monotonic() < deadline
            if b"Ctrl-C" in seen and not stopped:
                process.send_signal(signal.SIGTERM)
                stopped = True
        process.wait(10)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return seen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""

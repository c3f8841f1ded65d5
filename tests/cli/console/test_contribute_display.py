"""What `idlehive contribute` shows while it goes on."""

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

import pytest

from app.cli.console.display import PlainDisplay
from core.api.message import Message
from core.api.protocol import Event
from core.api.snapshot import Snapshot, State
from tests.cli.conftest import ROOT, StartCli
from tests.cli.snapshots import BEFORE, NOW, active, wait_for_line
from tests.fakes.scripted_engine import ScriptedEngine

ENDED = "The organiser has ended"


def test_without_a_terminal_there_is_one_plain_line_for_each_change(
    obedient: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    for samples in range(1, 6):
        obedient.show(active(17, samples))
    obedient.tell(Event("epoch_done", Message("epoch_done"), NOW, epoch=18, loss=4.2))
    obedient.tell(Event("epoch_done", Message("epoch_done"), NOW, epoch=19))
    obedient.tell(Event("warning", Message("project_ended", {"name": "Bees\x1b[2J"}), NOW))
    assert process.stdout
    lines = [process.stdout.readline() for _ in range(3)]
    assert all(re.match(r"\d\d:\d\d:\d\d  ", line) for line in lines)
    ended = "The organiser has ended Bees [2J; thank you for helping."
    assert [line[10:-1] for line in lines] == ["Epoch 18: loss 4.20", "Epoch 19", ended]


def test_a_change_without_other_words_needs_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    shown = PlainDisplay()
    states: tuple[State, ...] = ("idle", "starting", "joining")
    for state in states:
        shown.show(Snapshot(state=state, wanted=True, engine_pid=1))
    assert [line[10:] for line in capsys.readouterr().out.splitlines()] == ["Getting ready", "Looking for peers"]


@pytest.mark.parametrize("columns", [40, 60, 120])
def test_the_display_fits_the_terminal(obedient: ScriptedEngine, columns: int) -> None:
    screen = _in_terminal(obedient, columns)
    assert "Contributing to Bees" in screen
    assert "█" in screen
    shown = [re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", line).strip("\r") for line in screen.split("Given:")[0].split("\n")]
    # A carriage return starts the line again; no line may be longer than the terminal.
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

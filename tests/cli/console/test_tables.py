"""Tables fit the terminal: whole names and numbers, fewer columns where there is less room."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from contextlib import suppress

import msgspec
import pytest

from app.cli.console.layout import width as cell_len
from app.cli.console.output import fitting, wrapped
from core.api.project.projects import ListProjects, ProjectInfo
from core.api.record.record import GetHistory
from tests.cli.conftest import ROOT
from tests.cli.given import HALF_AN_HOUR
from tests.fakes.scripted_engine import ScriptedEngine

LARGE = msgspec.structs.replace(
    HALF_AN_HOUR, samples=1_234_567, accepted=1_230_000, rounds=1234, failed_rounds=12, epochs=1233, seconds=12_345.0,
    cpu_seconds=49_000.0, joules=3e5, flops=3e15, uploaded=123_400_000, downloaded=456_700_000,
)  # fmt: skip
DANCES = "春天里蜜蜂的舞蹈与飞行路线"
BEES = ProjectInfo("bees", "The dances of the bees in spring", "", "Apiarists of the Alps", "MIT", "", joined=True)


def in_terminal(columns: int, *arguments: str) -> list[str]:
    """The lines that a verb writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    plain = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "app", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=theirs, stderr=theirs, env={**plain, "TERM": "xterm"}):
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # the other side is closed
            while data := os.read(ours, 1 << 16):
                seen += data
        os.close(ours)
    return re.sub(r"\x1b\[[0-9;]*m", "", seen.decode()).replace("\r", "").rstrip().split("\n")


@pytest.mark.parametrize("name", ["The dances of the bees in spring", DANCES])
@pytest.mark.parametrize("columns", [60, 80, 160])
@pytest.mark.parametrize("verb", ["history", "limits", "projects"])
def test_no_line_is_longer_than_the_terminal_and_nothing_is_cut(
    engine: ScriptedEngine, verb: str, columns: int, name: str
) -> None:
    engine.answer(GetHistory, [LARGE])
    engine.answer(ListProjects, [msgspec.structs.replace(BEES, name=name)])
    lines = in_terminal(columns, verb)
    assert max(cell_len(line.rstrip()) for line in lines) <= columns
    text = "\n".join(lines)
    assert not re.search(r"\w…", text)
    whole = {"history": ("bees", "1 234 567"), "limits": ("gentle.processor_share",), "projects": (name,)}
    assert all(part in text for part in whole[verb])


def test_columns_go_in_the_order_of_their_use() -> None:
    columns, rows = ("name", ">a", ">b", ">c"), [("12345", "1", "22", "333")]
    assert fitting(columns, rows, ("b", "c", "a"), 17) == [0, 1, 2, 3]
    assert fitting(columns, rows, ("b", "c", "a"), 16) == [0, 2, 3]
    assert fitting(columns, rows, ("b", "c", "a"), 11) == [0, 2]
    assert fitting(columns, rows, ("b", "c", "a"), 3) == [0]


def test_wide_characters_take_two_places() -> None:
    assert fitting(["name", "b"], [("蜜蜂", "1")], ("b",), 7) == [0, 1]
    assert fitting(["name", "b"], [("蜜蜂的", "1")], ("b",), 8) == [0]
    lines = wrapped(DANCES * 8, 2)
    assert "".join(line.strip() for line in lines) == DANCES * 8
    assert 70 < max(map(cell_len, lines)) <= 80

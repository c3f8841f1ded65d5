"""What the program costs while nothing is contributed. `python -m benchmarks.footprint` prints the figures."""

import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.footprint import SETTLES, close_window, idle_engine, memory, open_window, screen
from tests.end_to_end.machine import Machine
from tests.waiting import wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from Linux's /proc")

HEAVY = {"hivemind", "numpy", "safetensors", "tokenizers", "torch", "transformers"}
TELL_IMPORTS = {"PYTHONPROFILEIMPORTTIME": "1"}


def imported(log: str) -> set[str]:
    """Top-level packages that a process says it has imported (`python -X importtime`)."""
    return {name.partition(".")[0] for name in re.findall(r"^import time:.*\|\s*([\w.]+)$", log, re.MULTILINE)}


def heavy_files(pid: int) -> list[str]:
    """Libraries of the learning packages among the files that the process has mapped."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [line for line in lines if HEAVY & set(re.split(r"[/.]", line.partition("/")[2]))]


@pytest.fixture
def display(machine: Machine) -> Iterator[str]:
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed")
    with screen(machine) as name:
        yield name


def test_an_idle_engine_takes_at_most_45_mib(machine: Machine) -> None:
    ann = machine.profile("ann")
    pid = idle_engine(ann)
    assert heavy_files(pid) == []
    assert memory(pid) <= 45
    assert ann.run("quit").returncode == 0
    machine.wait_until_nothing_is_left()


def test_the_engine_imports_no_learning_library(machine: Machine) -> None:
    ann = machine.profile("ann")
    engine = ann.start(module="core.engine", **TELL_IMPORTS)
    # A command that finds no engine starts one, and this one would meet a profile in use.
    wait_for(ann.home.socket.exists, 20.0, "the engine can be called")
    machine.members()
    ann.run("projects", "join", "practice")
    ann.run("history")
    assert ann.run("quit").returncode == 0
    assert engine.end() == 0
    packages = imported(engine.complained())
    assert {"asyncio", "core", "msgspec"} <= packages
    assert packages & HEAVY == set()
    # Several MiB each, which only some requests to the engine need.
    assert packages & {"cryptography", "http", "requests"} == set()


def test_an_open_window_takes_at_most_90_mib(machine: Machine, display: str) -> None:
    ann = machine.profile("ann")
    program, _ = open_window(ann, display)
    ann.until("idle", 20.0)
    time.sleep(SETTLES)
    assert heavy_files(program.process.pid) == []
    assert memory(program.process.pid) <= 90
    close_window(program, ann)
    machine.wait_until_nothing_is_left()


def test_the_window_imports_no_learning_library(machine: Machine, display: str) -> None:
    ann = machine.profile("ann")
    program, _ = open_window(ann, display, **TELL_IMPORTS)
    ann.until("idle", 20.0)
    close_window(program, ann)
    packages = imported(program.complained())
    assert {"PySide6", "app", "core"} <= packages
    assert packages & (HEAVY | {"pyqtgraph"}) == set()

"""Finding and ending what runs from a folder."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from core.system import instances
from tests.waiting import wait_for

_FRONT_END = """
import pathlib, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN if "--stubborn" in sys.argv else signal.SIG_DFL)
signal.signal(signal.SIGUSR1, lambda *_: pathlib.Path(sys.argv[0] + ".restarted").touch())
pathlib.Path(sys.argv[0] + "." + "-".join(sys.argv[1:])).touch()
while True:
    signal.pause()
"""

_STARTS_ANOTHER = """
import signal, subprocess, sys
def end(*_):
    subprocess.Popen([sys.executable, "-I", *sys.argv[1:3]])
    sys.exit()
signal.signal(signal.SIGTERM, end)
print(flush=True)
signal.pause()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "idlehive").write_text(_FRONT_END)
    return tmp_path


@pytest.fixture
def window(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen([sys.executable, "-I", folder / "idlehive", "--in-tray"])
    wait_for((folder / "idlehive.--in-tray").exists)
    yield process
    process.kill()
    process.wait()


def test_what_runs_from_the_folder_is_asked_to_end(folder: Path, window: "subprocess.Popen[bytes]") -> None:
    assert [process.pid for process in instances.running(str(folder))] == [window.pid]
    assert instances.end(str(folder)) == 1
    assert instances.running(str(folder)) == []


def test_what_is_started_while_all_end_is_ended_too(folder: Path) -> None:
    (folder / "old").mkdir()
    (folder / "old" / "idlehive").write_text(_STARTS_ANOTHER)
    command = [sys.executable, "-I", str(folder / "old" / "idlehive"), str(folder / "idlehive"), "--stubborn"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert instances.end(str(folder), 5.0) == 1
    assert instances.running(str(folder)) == []


def test_one_that_ends_in_the_last_moment_does_not_save_the_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = [
        subprocess.Popen([sys.executable, "-I", folder / "idlehive", "--stubborn", str(number)]) for number in range(3)
    ]
    waited = instances._wait

    def and_the_first_ends(found: list[psutil.Process], grace: float) -> None:
        waited(found, grace)
        started[0].kill()
        started[0].wait()

    try:
        for number in range(3):
            wait_for((folder / f"idlehive.--stubborn-{number}").exists)
        monkeypatch.setattr(instances, "_wait", and_the_first_ends)
        assert instances.end(str(folder), 0.1) == 3
        wait_for(lambda: all(process.poll() is not None for process in started))
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_what_its_parent_does_not_reap_has_ended_too(folder: Path) -> None:
    parent = "import subprocess, sys, time; subprocess.Popen(sys.argv[1:]); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", parent, sys.executable, "-I", folder / "idlehive"]) as process:
        wait_for((folder / "idlehive.").exists)
        found = [other for other in instances.running(str(folder)) if other.pid != process.pid]
        began = time.monotonic()
        found[0].terminate()
        instances._wait(found, 60.0)
        assert time.monotonic() - began < 30
        assert found[0].status() == psutil.STATUS_ZOMBIE
        process.kill()


def test_a_window_starts_again_and_a_command_goes_on(folder: Path, window: "subprocess.Popen[bytes]") -> None:
    command = subprocess.Popen([sys.executable, "-I", folder / "idlehive", "contribute"])
    try:
        wait_for((folder / "idlehive.contribute").exists)
        assert instances.restart(str(folder)) == 1
        wait_for((folder / "idlehive.restarted").exists)
        assert command.poll() is None
    finally:
        command.kill()
        command.wait()


def test_other_programs_are_left_alone(folder: Path, tmp_path: Path, window: "subprocess.Popen[bytes]") -> None:
    assert shutil.which("sleep")
    with subprocess.Popen(["sleep", "60"], cwd=folder) as other:
        assert other.pid not in [process.pid for process in instances.running(str(folder))]
        other.kill()

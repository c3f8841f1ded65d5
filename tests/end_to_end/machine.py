"""A computer of a test's own: profiles, a temporary folder and every process of it, known by the profile's folder."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from core.client.profile import Profile
from core.store.database import Database
from core.store.preferences import StoredPreferences
from tests import waiting
from tests.waiting import Result

ROOT = Path(__file__).resolve().parents[2]
PRACTICE = ROOT / "resources" / "practice"
_SHARED_MEMORY = Path("/dev/shm")


def wait_for(condition: Callable[[], Result], seconds: float, what: str) -> Result:
    """As `waiting.wait_for`; here most conditions start a command, or look at a screen or at every process."""
    return waiting.wait_for(condition, seconds, what, every=0.2)


@dataclass(frozen=True)
class Program:
    """A running command whose output goes to files, so that no pipe can fill up."""

    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    def said(self) -> str:
        return self.output.read_text()

    def complained(self) -> str:
        return self.errors.read_text()

    def end(self, seconds: float = 30.0) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(seconds)


class Participant:
    """One volunteer, or one organiser, on the machine."""

    def __init__(self, machine: "Machine", name: str, at: Sequence[str], environment: dict[str, str]) -> None:
        self.home = Profile(machine.folder / name)
        self._machine, self._at, self._environment = machine, tuple(at), environment

    def shares_the_processor(self) -> None:
        """Contributes beside whatever else this machine does, such as the tests that run at the same time."""
        self.home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        with closing(Database(self.home.database)) as database:
            StoredPreferences(database).set("busy_processor", 0)

    def add_environment(self, **more: str) -> None:
        """For the commands that it runs from now on."""
        self._environment = {**self._environment, **more}

    def environment(self) -> dict[str, str]:
        without_screen = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
        return {
            **without_screen,
            "IDLEHIVE_HOME": str(self.home.path),
            "TMPDIR": str(self._machine.temporary),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            **self._environment,
        }

    def has_been_welcomed(self) -> None:
        """The window opens as for a volunteer who has seen the welcome."""
        self.home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.home.path / "window.ini").write_text("[told]\nwelcome=yes\n")

    def start(self, *arguments: str, module: str = "app", **environment: str) -> Program:
        """Start `idlehive …`, or another module of the program."""
        return self._machine.start([module, *arguments], {**self.environment(), **environment}, self._at)

    def run(self, *arguments: str, stdin: str = "", seconds: float = 60.0) -> "subprocess.CompletedProcess[str]":
        """Run `idlehive …` to its end."""
        return subprocess.run(
            [*self._at, sys.executable, "-m", "app", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=ROOT,
            env=self.environment(),
            check=False,
        )

    def status(self) -> dict[str, Any]:
        """`status --json`."""
        done = self.run("status", "--json")
        assert done.returncode == 0, done.stderr
        status: dict[str, Any] = json.loads(done.stdout)
        return status

    def progress(self) -> dict[str, Any]:
        found: dict[str, Any] = self.status()["progress"]
        return found

    def until(self, state: str, seconds: float = 90.0) -> dict[str, Any]:
        """The status, once the engine is in `state`."""

        def in_state() -> dict[str, Any]:
            status = self.status()
            return status if status["state"] == state else {}

        return wait_for(in_state, seconds, state)


class Machine:
    """Everything that a test starts. `clean_up` ends what is left, by process id."""

    def __init__(self) -> None:
        # Not pytest's folder: its path is too long for sockets inside it.
        self.folder = Path(tempfile.mkdtemp(prefix="hive", dir="/tmp"))
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self._started: list[Program] = []
        self._seen: set[int] = set()

    def profile(self, name: str, *, at: Sequence[str] = (), **environment: str) -> Participant:
        """`at` is the command that runs another one elsewhere, as in a network namespace."""
        participant = Participant(self, name, at, environment)
        participant.shares_the_processor()
        return participant

    def start(self, command: list[str], environment: dict[str, str], at: Sequence[str] = ()) -> Program:
        output, errors = (self.folder / f"{len(self._started)}.{kind}" for kind in ("out", "err"))
        with output.open("wb") as out, errors.open("wb") as err:
            process = subprocess.Popen(
                [*at, sys.executable, "-m", *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=ROOT,
                env=environment,
            )
        self._started.append(Program(process, output, errors))
        return self._started[-1]

    def members(self) -> list[psutil.Process]:
        """Every living process of a profile of this machine."""
        found = [process for process in psutil.process_iter() if self._is_ours(process)]
        self._seen |= {process.pid for process in found}
        return found

    def left_over(self) -> list[str]:
        """What should not be there after everything has ended, one entry each."""
        sockets = [path for path in self.folder.rglob("*") if stat.S_ISSOCK(path.lstat().st_mode)]
        sessions = list(self.folder.glob("*/run/session-*"))
        return [
            *(_described(process) for process in self.members()),
            *(str(path) for path in (*sockets, *sessions, *self.temporary.iterdir())),
            *(str(path) for path in self._shared_memory()),
        ]

    def wait_until_nothing_is_left(self, seconds: float = 10.0, but: tuple[Path, ...] = ()) -> None:
        """Processes, sockets, session folders, temporary files and shared memory; `but` may stay."""
        deadline = time.monotonic() + seconds
        allowed = {str(path) for path in but}
        while rest := [entry for entry in self.left_over() if entry not in allowed]:
            assert time.monotonic() < deadline, "left over:\n" + "\n".join(rest)
            time.sleep(0.2)

    def clean_up(self) -> None:
        for member in self.members():
            member.kill()
        for program in self._started:
            program.process.wait(10)
        for segment in self._shared_memory():
            segment.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _shared_memory(self) -> list[Path]:
        """torch names its segments by the process that made them."""
        named = ((path, re.match(r"torch_(\d+)_", path.name)) for path in _SHARED_MEMORY.glob("torch_*"))
        return [path for path, match in named if match and int(match[1]) in self._seen]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                return False
            return Path(process.environ().get("IDLEHIVE_HOME", "/")).parent == self.folder
        except psutil.Error:
            return False


def _described(process: psutil.Process) -> str:
    try:
        return f"process {process.pid}: {' '.join(process.cmdline())}"
    except psutil.Error:
        return f"process {process.pid}, which has just ended"


def clean_machine() -> Iterator[Machine]:
    """To make a fixture of: a machine on which nothing is left afterwards."""
    machine = Machine()
    yield machine
    machine.clean_up()

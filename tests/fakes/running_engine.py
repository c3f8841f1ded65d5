"""A real engine process with a scripted trainer and a scripted backbone, in a profile of its own."""

import json
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar

import msgspec
import psutil

from core.api.errors import EngineGone
from core.api.intent import Contribute
from core.api.protocol import Command, Event, GetSnapshot, Quit
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.installation import core_command, core_environment
from core.client.profile import Profile
from tests.fakes import scripted_host, scripted_trainer
from tests.fakes.engine_process import Setting
from tests.waiting import wait_for

Result = TypeVar("Result")
FAKES = Path(__file__).parent


class RunningEngine:
    """The engine's process, a client of it, and the scripts of its children."""

    def __init__(self, profile: Profile, folder: Path) -> None:
        self.home = profile
        self.heard_file = folder / "heard.jsonl"
        self._trainer_script = folder / "trainer.json"
        self._host_script = folder / "host.json"
        self._clients: list[EngineClient] = []
        self.process: subprocess.Popen[str] | None = None
        self.trainer: Path | None = FAKES / "scripted_trainer.py"
        self.host: Path | None = FAKES / "scripted_host.py"
        """None: the real one, of both."""
        self.wsl: dict[str, str] = {}
        """Variables for the stand-in of wsl.exe; empty: sessions run beside the engine."""
        self.wsl_program = FAKES / "wsl" / "wsl.py"
        self.blind = True
        """Nothing of what this computer is doing has a say: it may be a laptop on battery, and in use."""
        self.patience: dict[str, float] = {}
        """Seconds by module and name, in the place of the engine's own: for tests of what comes when they are over."""
        self.script()
        self.script_host()

    def script(self, **changes: Any) -> None:
        """What trainers do that start from now on."""
        self._trainer_script.write_text(json.dumps({"hears": str(self.heard_file), **changes}))

    def script_host(self, **changes: Any) -> None:
        self._host_script.write_text(json.dumps(changes))

    def launch(self) -> subprocess.Popen[str]:
        """A process of the engine, whatever becomes of it."""
        wsl = str(self.wsl_program) if self.wsl else ""
        trainer, host = str(self.trainer or ""), str(self.host or "")
        setting = Setting(trainer, host, self.blind, self.patience, wsl)
        return subprocess.Popen(
            core_command("tests.fakes.engine_process", msgspec.json.encode(setting).decode()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                **core_environment(),
                "IDLEHIVE_HOME": str(self.home.path),
                scripted_trainer.VARIABLE: str(self._trainer_script),
                scripted_host.VARIABLE: str(self._host_script),
                "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
                **self.wsl,
            },
        )

    def start(self) -> "RunningEngine":
        """A fresh engine that answers, also after the one before has ended."""
        if self.process is not None:
            _close_pipes(self.process)
        self.process = self.launch()
        wait_for(self._answers)
        return self

    def _answers(self) -> bool:
        try:
            return self.snapshot().engine_pid == self.pid
        except EngineGone:
            return False

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def client(self) -> EngineClient:
        self._clients.append(EngineClient.connect(self.home))
        return self._clients[-1]

    def ask(self, command: Command, result: type[Result]) -> Result:
        with EngineClient.connect(self.home) as client:
            return client.request(command, result, timeout=30.0)

    def tell(self, command: Command) -> None:
        self.ask(command, NoneType)

    def snapshot(self) -> Snapshot:
        return self.ask(GetSnapshot(), Snapshot)

    def until(self, state: str, seconds: float = 15.0) -> Snapshot:
        def in_state() -> Snapshot | None:
            snapshot = self.snapshot()
            return snapshot if snapshot.state == state and (state != "contributing" or snapshot.session) else None

        return wait_for(in_state, seconds)  # type: ignore[return-value]  # wait_for returns only what is true

    def contribute(self) -> Snapshot:
        """Begin with the practice project, and come back when it contributes."""
        self.tell(Contribute())
        return self.until("contributing")

    def heard(self) -> list[dict[str, Any]]:
        """The commands that trainers got, without the lines that tell their processes."""
        lines = self.heard_file.read_text().splitlines() if self.heard_file.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{")]

    def members(self) -> list[psutil.Process]:
        """Every process that belongs to this profile, the engine too."""
        return [process for process in psutil.process_iter() if _profile(process) == str(self.home.path)]

    def commands(self) -> dict[int, list[str]]:
        """How each of them was called, by its pid, without those that end meanwhile."""
        found = dict[int, list[str]]()
        for process in self.members():
            with suppress(psutil.Error):
                found[process.pid] = process.cmdline()
        return found

    def log(self) -> str:
        return (self.home.logs / "engine.log").read_text()

    def quit(self) -> int:
        self.tell(Quit())
        assert self.process is not None
        return self.process.wait(10)

    def clean_up(self) -> None:
        for client in self._clients:
            client.close()
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            finally:
                for member in self.members():
                    member.kill()
                _close_pipes(self.process)
        # An engine that was killed leaves its folder to the next one.
        shutil.rmtree(self.home.runtime, ignore_errors=True)


def _profile(process: psutil.Process) -> str | None:
    try:
        if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
            return None
        return process.environ().get("IDLEHIVE_HOME")
    except psutil.Error:
        return None


def events(client: EngineClient, kind: str, seconds: float = 10.0) -> Event:
    """The next event of a kind on a client that subscribed."""
    deadline = time.monotonic() + seconds
    for message in client.messages(0.2):
        if isinstance(message, Event) and message.kind == kind:
            return message
        assert time.monotonic() < deadline, f"no {kind} came"
    raise AssertionError


def _close_pipes(process: subprocess.Popen[str]) -> None:
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()

"""A machine to try the installer on: a copy of the checkout, a fresh home, and stand-ins for all that takes long."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from installer.checkout import Checkout

STUBS = Path(__file__).parent / "stubs"


def _listen_to_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass
class Machine:
    """Runs `python -m installer` as real processes; `environment` describes the machine, as in stubs/."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def checkout(self) -> Checkout:
        return Checkout(self.folder / "checkout")

    @property
    def programs(self) -> Path:
        """The only folder on PATH."""
        return self.folder / "bin"

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "installer", *arguments],
            cwd=self.checkout.root,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A shell in whose background the tests run has told them to ignore Ctrl-C, and they would hand that down.
            preexec_fn=_listen_to_ctrl_c,  # noqa: PLW1509 - it takes no lock
        )

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def calls(self) -> list[str]:
        """What the stand-ins were asked for since the last time."""
        lines = self._noted()
        (self.folder / "calls").unlink(missing_ok=True)
        return lines

    def _noted(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def wait_for_call(self, start: str) -> None:
        deadline = time.monotonic() + 30
        while not any(call.startswith(start) for call in self._noted()):
            assert time.monotonic() < deadline, f"{start} was never called"
            time.sleep(0.02)

    def change_lock(self) -> None:
        with self.checkout.constraints.open("a", encoding="utf-8") as lock:
            lock.write("another==1.0\n")

    def add_program(self, name: str) -> None:
        script = (STUBS / "program.py").read_text(encoding="utf-8")
        (self.programs / name).write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
        (self.programs / name).chmod(0o755)


def failures(*each: tuple[str, int, str]) -> str:
    """For STUB_FAILURES: which calls fail (a part of the call, how often, what is printed)."""
    return json.dumps(each)

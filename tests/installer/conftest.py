"""A machine to try the installer on: a copy of the checkout, a fresh home, and stand-ins for all that takes long."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from installer.checkout import Checkout, this_checkout
from installer.system_packages import TEST_PROGRAMS

STUBS = Path(__file__).parent / "stubs"


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

    def add_program(self, name: str) -> None:
        script = (STUBS / "program.py").read_text(encoding="utf-8")
        (self.programs / name).write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
        (self.programs / name).chmod(0o755)


def failures(*each: tuple[str, int, str]) -> str:
    """For STUB_FAILURES: which calls fail (a part of the call, how often, what is printed)."""
    return json.dumps(each)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    here = this_checkout().root
    machine = Machine(tmp_path)
    shutil.copytree(
        here / "installer", machine.checkout.root / "installer", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copy(here / name, machine.checkout.root / name)
    (tmp_path / "home" / ".fonts").mkdir(parents=True)
    (tmp_path / "home" / ".fonts" / "some.ttf").touch()
    machine.programs.mkdir()
    for name in ("apt-get", *TEST_PROGRAMS):
        machine.add_program(name)
    machine.environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": str(machine.programs),
        "PYTHONPATH": str(STUBS),
        "PYTHONIOENCODING": "utf-8",
        "STUB_CALLS": str(tmp_path / "calls"),
        "DISPLAY": ":77",
    }
    return machine

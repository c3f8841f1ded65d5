import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from core.api.intent import Contribute, Pause
from core.client.profile import Profile
from tests.cli.snapshots import AFTER, BEFORE, active
from tests.fakes.scripted_engine import ScriptedEngine

ROOT = Path(__file__).resolve().parents[2]
RunCli = Callable[..., "subprocess.CompletedProcess[str]"]
StartCli = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Profile]:
    """A profile of its own; this process and those it starts see it as theirs."""
    monkeypatch.setenv("IDLEHIVE_HOME", str(tmp_path / "profile"))
    profile = Profile.from_environment()
    yield profile
    shutil.rmtree(profile.runtime, ignore_errors=True)


@pytest.fixture
def engine(profile: Profile) -> Iterator[ScriptedEngine]:
    with ScriptedEngine(profile) as scripted:
        yield scripted


@pytest.fixture
def start_cli(profile: Profile) -> Iterator[StartCli]:
    """Starts `idlehive …` as a person would; what is left at the end is killed."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str, **environment: str) -> "subprocess.Popen[str]":
        without_screen = {
            name: value for name, value in os.environ.items() if "DISPLAY" not in name and name != "QT_QPA_PLATFORM"
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "app", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**without_screen, "IDLEHIVE_HOME": str(profile.path), **environment},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run_cli(start_cli: StartCli) -> RunCli:
    """Runs `idlehive …` to its end."""

    def run(*arguments: str, stdin: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
        process = start_cli(*arguments, **environment)
        out, err = process.communicate(stdin, timeout=30)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    return run


@pytest.fixture
def obedient(engine: ScriptedEngine) -> ScriptedEngine:
    """An engine that contributes when told to, and is idle when paused."""
    engine.show(BEFORE)
    engine.answer(Contribute, lambda _: engine.show(active()))
    engine.answer(Pause, lambda _: engine.show(AFTER))
    return engine

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.cli import main
from app.text import i18n
from app.text.formats import region
from core.api.intent import Contribute, GiveBack
from core.client.profile import Profile
from tests.cli.snapshots import AFTER, BEFORE, active
from tests.fakes.scripted_engine import ScriptedEngine

ROOT = Path(__file__).resolve().parents[2]
SCREEN = {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}
"""Variables by which Qt finds one."""
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
    # Programs that a shell starts in the background ignore Ctrl-C, and so would what this one starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def start(*arguments: str, **environment: str) -> "subprocess.Popen[str]":
        without_screen = {name: value for name, value in os.environ.items() if name not in SCREEN}
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
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def run_cli(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> RunCli:
    """Runs `idlehive …` to its end in this process, as one whose output is a pipe, or with `columns` a terminal without
    colours. `start_cli` is for what needs one of
    its own: signals, a closed pipe, an application of Qt's, another program in its place.
    """

    def run(
        *arguments: str, stdin: str = "", columns: int | None = None, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        out, err = (_pipe(environment.get("PYTHONIOENCODING", "utf-8")) for _ in range(2))
        if columns:
            environment |= {"COLUMNS": str(columns), "TERM": "dumb"}
            out, err = (_Terminal(io.BytesIO(), "utf-8") for _ in range(2))
        with monkeypatch.context() as patch, _english_again():
            patch.chdir(ROOT)
            patch.setenv("LC_ALL", "C")
            for name in SCREEN & set(os.environ):
                patch.delenv(name)
            for name, value in environment.items():
                patch.setenv(name, value)
            for name, stream in (("stdin", io.StringIO(stdin)), ("stdout", out), ("stderr", err)):
                patch.setattr(sys, name, stream)
            code = main(list(arguments))
        return subprocess.CompletedProcess(arguments, code, *(_written(stream) for stream in (out, err)))

    return run


@pytest.fixture
def english_again() -> Iterator[None]:
    """Whatever language a test has spoken."""
    with _english_again():
        yield


@contextmanager
def _english_again() -> Iterator[None]:
    yield
    i18n.use("en")
    region.use(region.Region())


class _Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def _pipe(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding)


def _written(pipe: io.TextIOWrapper) -> str:
    pipe.flush()
    pipe.seek(0)
    return pipe.read()


@pytest.fixture
def obedient(engine: ScriptedEngine) -> ScriptedEngine:
    """An engine that contributes when told to, and is idle when it is given back."""
    engine.show(BEFORE)

    def contribute(_: Contribute) -> int:
        engine.show(active())
        return 1

    engine.answer(Contribute, contribute)
    engine.answer(GiveBack, lambda _: engine.show(AFTER))
    return engine

"""Sessions in WSL: a real engine starts them through a stand-in for wsl.exe, in folders that only they see."""

import os
import shutil
import signal
import sys
from pathlib import Path

import psutil
import pytest

from core.api.intent import Contribute, Pause, Resume
from core.client import wsl
from core.client.installation import ROOT
from core.runtime import plan
from core.runtime.store import PYTHON, RuntimeStore, libraries, locks
from tests.fakes import scripted_host, scripted_trainer
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces need root"),
    pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed"),
]


@pytest.fixture
def in_wsl(engine: RunningEngine, tmp_path: Path) -> RunningEngine:
    """The portable build in the distribution is this checkout, the compute runtime its environment."""
    home, data = tmp_path / "distribution", tmp_path / "data"
    (home / "python" / "bin").mkdir(parents=True)
    for name in ("core", "resources", "tests"):
        (home / name).symlink_to(ROOT / name)
    python = home / "python" / "bin" / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    store = RuntimeStore(data / "compute")
    runtime = store.folder / f"{plan.name(locks()[0], PYTHON)}-abcd"
    libraries(runtime).mkdir(parents=True)
    store.switch_to(runtime)
    passed = f"{scripted_trainer.VARIABLE}:{scripted_host.VARIABLE}"
    engine.wsl = {"WSL_HOME": str(home), "WSL_DATA": str(data), "WSLENV": passed}
    return engine


def inside() -> list[psutil.Process]:
    """What runs in the distribution."""
    return [process for process in psutil.process_iter() if _is_inside(process)]


def _is_inside(process: psutil.Process) -> bool:
    try:
        return f"PYTHONPATH={wsl.HOME}/lib:{wsl.HOME}".split("=")[1] in process.environ().get("PYTHONPATH", "")
    except psutil.Error:
        return False


def test_a_session_in_wsl_contributes_pauses_and_ends_without_a_trace(in_wsl: RunningEngine) -> None:
    in_wsl.start().contribute()
    assert inside()
    start = in_wsl.heard()[0]
    assert start["cache"] == "/var/lib/idlehive/cache"
    assert start["session_folder"].startswith("/tmp/session-")
    assert not Path(start["session_folder"]).is_relative_to(in_wsl.home.runtime)
    in_wsl.tell(Pause())
    in_wsl.until("holding")
    in_wsl.tell(Resume())
    in_wsl.until("contributing")
    assert in_wsl.quit() == 0
    wait_for(lambda: not inside())
    assert not Path(start["session_folder"]).exists()


def test_if_wsl_is_killed_the_session_ends_and_another_one_starts(in_wsl: RunningEngine) -> None:
    in_wsl.script(every=0.2)
    before = in_wsl.start().contribute().session
    assert before is not None
    for process in in_wsl.members():
        if any(word.endswith("wsl.py") for word in process.cmdline()):
            process.send_signal(signal.SIGKILL)
    old = set(inside())
    wait_for(lambda: not old & set(inside()), 20)
    in_wsl.until("contributing", 60)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_real_session_in_wsl_reaches_an_epoch_of_the_practice_project(in_wsl: RunningEngine) -> None:
    in_wsl.trainer = in_wsl.host = None
    in_wsl.start().tell(Contribute())
    in_wsl.until("contributing", 120)
    wait_for(lambda: in_wsl.snapshot().progress.epoch >= 1, 120, "an epoch", every=0.5)
    assert (in_wsl.home.path.parent / "data" / "practice").is_dir()
    assert not in_wsl.home.practice.exists()
    assert in_wsl.quit() == 0
    wait_for(lambda: not inside(), 20)

"""The suite leaves nothing behind: what a test starts must be gone when all are done, or the run fails."""

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.util import get_temp_dir
from pathlib import Path

import psutil
import pytest
from hypothesis import settings

from core.client.profile import Profile
from tests.fakes.ssh_server import SshServer, serving_ssh

# How long something takes is measured by benchmarks; the first example of a test may load a library.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# What tests read is English, on everybody's computer.
os.environ["LC_ALL"] = "C.UTF-8"

_TAG = "IDLEHIVE_TEST_RUN"
"""Environment variable by which everything that descends from this run is known."""
_TIME_TO_END = 15.0
"""Seconds for what was told to end in the last test."""


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    # Elsewhere: pytest keeps the one for a look at it later, and this process itself removes the other as it ends.
    tmp_path_factory.getbasetemp(), get_temp_dir()
    run, before = uuid.uuid4().hex, _memory()
    os.environ[_TAG] = run
    with _temporary_folder() as common:
        yield
        _check_processes(run)
        left = _left_in_memory(before) | _files(common)
    assert not left, f"the tests left in common folders: {sorted(left)}"


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """The common temporary folder of this run alone: what others leave in theirs says nothing about these tests."""
    folder = tempfile.mkdtemp(prefix="i")  # short, for the sockets in it
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        try:
            yield Path(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _check_processes(run: str) -> None:
    deadline = time.monotonic() + _TIME_TO_END
    while (left := _processes_of(run)) and time.monotonic() < deadline:
        time.sleep(0.1)
    described = [f"{process.pid} {' '.join(process.cmdline()[:6])}" for process in left if process.is_running()]
    for process in left:
        process.kill()
    assert not described, f"the tests left processes running: {described}"


def _left_in_memory(before: set[str]) -> set[str]:
    """Tests beside these may just have killed a process whose memory they are about to free."""
    deadline = time.monotonic() + _TIME_TO_END
    while (left := _memory() - before) and time.monotonic() < deadline:
        time.sleep(0.1)
    return left


def _memory() -> set[str]:
    """Shared memory of processes that are gone."""
    names = (path.name for path in Path("/dev/shm").glob("torch_*"))
    return {f"/dev/shm/{name}" for name in names if not psutil.pid_exists(int(name.split("_")[1]))}


def _files(common: Path) -> set[str]:
    """Session folders and sockets."""
    return {str(path) for pattern in ("idlehive-*", "hive*", "pymp-*") for path in common.glob(pattern)}


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for the names of Unix sockets, which pytest's own does not."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def far(short_folder: Path) -> Profile:
    """The profile of another machine, behind `server`."""
    profile = Profile(short_folder / "far")
    profile.prepare()
    return profile


@pytest.fixture
def ssh_server(tmp_path: Path, far: Profile, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshServer]:
    with serving_ssh(tmp_path / "ssh", far, monkeypatch) as running:
        yield running


def _processes_of(run: str) -> list[psutil.Process]:
    own = psutil.Process()
    return [process for process in psutil.process_iter() if process != own and _belongs(process, run)]


def _ends_with_this_one(process: psutil.Process) -> bool:
    """multiprocessing's own helper, which waits for the end of whoever made it."""
    return process.ppid() == os.getpid() and "multiprocessing.resource_tracker" in " ".join(process.cmdline())


def _belongs(process: psutil.Process, run: str) -> bool:
    try:
        # environ() is what a process was started with: this one itself was started without the tag.
        tagged = process.status() != psutil.STATUS_ZOMBIE and process.environ().get(_TAG) == run
        return tagged and not _ends_with_this_one(process)
    except (psutil.Error, OSError):
        return False

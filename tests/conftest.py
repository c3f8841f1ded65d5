"""The suite leaves nothing behind: what a test starts must be gone when all are done, or the run fails."""

import os
import time
import uuid
from collections.abc import Iterator

import psutil
import pytest

_TAG = "IDLEHIVE_TEST_RUN"
"""Environment variable by which everything that descends from this run is known."""
_TIME_TO_END = 15.0
"""Seconds for what was told to end in the last test."""


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    run = uuid.uuid4().hex
    os.environ[_TAG] = run
    yield
    deadline = time.monotonic() + _TIME_TO_END
    while (left := _processes_of(run)) and time.monotonic() < deadline:
        time.sleep(0.1)
    described = [f"{process.pid} {' '.join(process.cmdline()[:6])}" for process in left if process.is_running()]
    for process in left:
        process.kill()
    assert not described, f"the tests left processes running: {described}"


def _processes_of(run: str) -> list[psutil.Process]:
    own = psutil.Process()
    return [process for process in psutil.process_iter() if process != own and _belongs(process, run)]


def _belongs(process: psutil.Process, run: str) -> bool:
    try:
        # psutil's environ() reads what the process was started with, so a tag set later does not match this one itself.
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get(_TAG) == run
    except (psutil.Error, OSError):
        return False

"""The end of a process that a peer cannot do without, noticed by its peer."""

import subprocess
import sys
import threading
from collections.abc import Iterator

import psutil
import pytest

from core.swarm import liveness
from core.swarm.liveness import Liveness
from tests.waiting import wait_for


@pytest.fixture
def required() -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    waits = [sys.executable, "-c", "input()"]
    begun = {name: subprocess.Popen(waits, stdin=subprocess.PIPE) for name in ("dht_ended", "daemon_ended")}
    yield begun
    for process in begun.values():
        process.kill()
        process.communicate()


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_the_one_that_has_ended_is_named_once(
    required: dict[str, subprocess.Popen[bytes]], system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the system does not wake whoever waits for that."""
    monkeypatch.setattr(sys, "platform", system)
    found, ended = list[str](), threading.Event()

    def note(name: str) -> None:
        found.append(name)
        ended.set()

    watching = Liveness({name: psutil.Process(process.pid) for name, process in required.items()}, note)
    assert watching.missing is None
    required["daemon_ended"].kill()
    assert ended.wait(15.0)
    watching._thread.join(15.0)
    assert found == ["daemon_ended"]


def test_nothing_is_said_of_a_session_that_ends_its_processes_itself(
    required: dict[str, subprocess.Popen[bytes]],
) -> None:
    found = list[str]()
    watching = Liveness({name: psutil.Process(process.pid) for name, process in required.items()}, found.append)
    watching.stop()
    for process in required.values():
        process.kill()
    wait_for(lambda: not watching._thread.is_alive(), 15.0, "the watching thread ends")
    assert not found


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system wakes nobody")
def test_while_all_live_the_watching_thread_sleeps(required: dict[str, subprocess.Popen[bytes]]) -> None:
    watching = Liveness({name: psutil.Process(process.pid) for name, process in required.items()}, lambda _name: None)
    thread = watching._thread.native_id

    def switches() -> int:
        with open(f"/proc/self/task/{thread}/status") as status:  # noqa: PTH123 - a thread's
            return sum(int(line.split()[1]) for line in status if line.startswith("voluntary"))

    def is_asleep() -> bool:
        with open(f"/proc/self/task/{thread}/wchan") as where:  # noqa: PTH123 - a thread's
            return "poll" in where.read()

    wait_for(is_asleep, 15.0, "the thread waits for the system")
    before = switches()
    assert not watching._stopped.wait(3 * liveness._PERIOD)
    assert switches() == before
    watching.stop()

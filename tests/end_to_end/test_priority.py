"""How a session stands back that was started for a person who waits for it."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.machine import Machine, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's kernel"),
]


def schedulers(engine: int) -> dict[int, set[int]]:
    """Of all threads of all processes of a session, by process; subreapers and fork servers only wait."""
    found = {}
    for process in psutil.Process(engine).children(recursive=True):
        if not {"core.system.subreaper", "core.system.forking.server"} & set(process.cmdline()):
            threads = Path(f"/proc/{process.pid}/task").iterdir()
            found[process.pid] = {os.sched_getscheduler(int(thread.name)) for thread in threads}
    return found


def test_as_soon_as_it_contributes_all_its_processes_come_last(machine: Machine) -> None:
    ann = machine.profile("ann")
    ann.start("contribute", "practice")
    starting = ann.until("starting")
    prompt = wait_for(lambda: schedulers(starting["engine_pid"]), 10.0, "a program")
    assert {os.SCHED_OTHER} in prompt.values()
    engine = ann.until("contributing")["engine_pid"]
    later = wait_for(lambda: found if len(found := schedulers(engine)) >= 8 else {}, 60.0, "all processes")
    assert set().union(*later.values()) == {os.SCHED_IDLE}
    assert ann.run("quit").returncode == 0
    machine.wait_until_nothing_is_left()

"""How long a volunteer waits from the command to the first counted samples, by phase.

A fresh profile runs the real `idlehive contribute` on the practice project. The trainer's and the backbone's logs tell
when each phase has ended, the system when each process began, and the engine's snapshots when a front end could show
the first samples. With `--memory`, each start is followed by what every process holds
so many minutes later (proportional set size), a minute if none is given; `--memory 2 60 120` shows what grows.

Run it with `.venv/bin/python -m benchmarks.start [STARTS] [--cold] [--busy CORES] [--memory [MINUTES ...]]`. `--cold`
empties the system's cache of files before each start, which needs root; `--busy` computes on so many cores meanwhile.
"""

import argparse
import contextlib
import multiprocessing
import os
import re
import signal
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

from benchmarks.footprint import memory
from core.api.errors import EngineGone
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile
from tests.end_to_end.machine import Machine, Participant

STARTS = 5
LONGEST = 300.0
_LINE = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) INFO core\.(trainer|host)\S*: start: (.+)$", re.MULTILINE)
_COMPANION = 30.0
"""Seconds in which the companion has to follow."""
_SETTLES = 1.0
"""Minutes after the first samples until memory is read."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("starts", type=int, nargs="?", default=STARTS)
    parser.add_argument("--cold", action="store_true")
    parser.add_argument("--busy", type=int, default=0, metavar="CORES")
    parser.add_argument("--memory", type=float, nargs="*", metavar="MINUTES", help="after which the memory is read")
    chosen = parser.parse_args()
    weigh_after = [] if chosen.memory is None else sorted(chosen.memory) or [_SETTLES]
    with busy(chosen.busy):
        results = [start(cold=chosen.cold, weigh_after=weigh_after) for _ in range(chosen.starts)]
    for mark in sorted(results[0], key=lambda mark: statistics.median(one.get(mark, LONGEST) for one in results)):
        values = [one[mark] for one in results if mark in one]
        print(f"  {mark:32} median {statistics.median(values):6.2f}  worst {max(values):6.2f} s")


def start(*, cold: bool, weigh_after: Sequence[float]) -> dict[str, float]:
    """Seconds from the command to each mark. Memory is read so many minutes after the first samples."""
    machine = Machine()
    volunteer = machine.profile("ann")
    if cold:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")
    began = time.time()
    command = volunteer.start("contribute", "practice")
    try:
        marks = {"samples shown": shown(volunteer.home) - began}
        with EngineClient.connect(volunteer.home) as engine:
            processes = psutil.Process(engine.request(GetSnapshot(), Snapshot).engine_pid)
        marks |= {f"{name} process": at - began for name, at in births(processes)}
        marks |= {mark: at - began for mark, at in logged(volunteer.home.logs)}
        for minutes in weigh_after:
            time.sleep(max(0.0, began + marks["samples shown"] + 60 * minutes - time.time()))
            tell_memory(processes, minutes)
        return marks
    finally:
        command.process.send_signal(signal.SIGINT)
        command.end()
        quit_engine(volunteer)
        machine.clean_up()


def quit_engine(volunteer: Participant) -> None:
    volunteer.run("quit")


def shown(profile: Profile) -> float:
    """When the engine first tells of samples, UTC seconds."""
    deadline = time.time() + LONGEST
    while time.time() < deadline:
        with contextlib.suppress(EngineGone), EngineClient.connect(profile) as engine:
            while time.time() < deadline:
                if engine.request(GetSnapshot(), Snapshot).progress.samples:
                    return time.time()
                time.sleep(0.1)
        time.sleep(0.05)
    raise SystemExit("No samples were computed in time.")


def births(engine: psutil.Process) -> Iterator[tuple[str, float]]:
    """Each process that runs a module of the program, and when it began."""
    yield "engine", born(engine)
    for process in engine.children(recursive=True):
        name = name_of(process)
        parent = process.parent()
        if parent is not None and (name_of(parent) != name):
            yield name, born(process)


def born(process: psutil.Process) -> float:
    """When it began, UTC seconds. psutil's own time is off by the fraction of the second in which the system booted."""
    ticks = int(Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19])
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + ticks / os.sysconf("SC_CLK_TCK")


def name_of(process: psutil.Process) -> str:
    """Which part of a session a process is, with the program that started it."""
    command = process.cmdline()
    if "core.system.subreaper" in command:
        return "subreaper"
    module = next((word for word in command if word.startswith("core.")), "")
    if module:
        parents = [parent.cmdline() for parent in process.parents()]
        under_host = any("core.host" in line and "core.system.subreaper" not in line for line in parents)
        return "companion" if module == "core.trainer" and under_host else module.removeprefix("core.")
    return process.name()


def logged(logs: Path) -> list[tuple[str, float]]:
    """The ends of phases, UTC seconds. The companion is the last; with no processor left for it, it may never begin."""
    deadline = time.time() + _COMPANION
    while True:
        found = [*phases(logs / "trainer.log", "trainer"), *phases(logs / "host.log", "companion")]
        if time.time() > deadline or any(mark == "companion: first samples computed" for mark, _ in found):
            return found
        time.sleep(0.2)


def phases(log: Path, trainer: str) -> Iterator[tuple[str, float]]:
    """`trainer` names the trainer whose lines this log has."""
    for written, part, phase in _LINE.findall(log.read_text()):
        at = time.mktime(time.strptime(written[:-4], "%Y-%m-%d %H:%M:%S")) + int(written[-3:]) / 1000
        yield f"{trainer if part == 'trainer' else part}: {phase}", at


def tell_memory(engine: psutil.Process, minutes: float) -> None:
    processes = [engine, *engine.children(recursive=True)]
    weights = [(memory(process.pid), name_of(process), process.pid) for process in processes]
    print(f"memory after {minutes:g} min: {sum(weight for weight, _, _ in weights):.0f} MiB")
    for weight, name, pid in weights:
        print(f"  {name:12} {weight:6.0f} MiB ({pid}, below {psutil.Process(pid).ppid()})")


@contextmanager
def busy(cores: int) -> Iterator[None]:
    workers: Sequence[BaseProcess] = [multiprocessing.Process(target=compute, daemon=True) for _ in range(cores)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()


def compute() -> None:
    while True:
        pass


if __name__ == "__main__":
    main()

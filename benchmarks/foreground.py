"""How much contributing slows down what the volunteer does.

A CPU-bound job of fixed size runs again and again while the practice project (trainer and embedded backbone) takes
turns between contributing and paused; each pair of neighbours gives one ratio, and the order within a pair alternates.
The job runs once on one core and once on every core; once within the cache and once streaming through memory; at the
default level and with the limits of gentle hours. Medians and quartiles over the pairs. Nothing else should be running.
The kernel tells how long the job was ready to run while others ran; that is what a session can take from it, and it is
counted to the nanosecond, while the clock also shows what a computer's other tenants do.

Run it with `.venv/bin/python -m benchmarks.foreground [PAIRS] [JOB]`; JOB is `cache` or `memory`.
"""

import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Sequence
from multiprocessing.pool import Pool
from types import NoneType

import numpy as np

from benchmarks.practice import Practice, contributing
from core.api.intent import Pause, Resume
from core.api.preferences.commands import SetPreference
from core.api.preferences.preferences import GENTLE, PREFERENCES
from core.trainer.machine.contention import read_schedstat

PAIRS = 20
SETTLES = 0.4
"""Seconds after a pause or a resume until the job begins."""
JOBS = {"cache": "in the cache", "memory": "through memory"}
_ROUNDS = {"in the cache": 60_000, "through memory": 14}
_SIZES = {"in the cache": 1 << 14, "through memory": 1 << 23}
"""Numbers of 8 bytes: 128 KiB and 64 MiB."""


def work(job: str) -> tuple[float, float, float]:
    """Processor-bound work of fixed size: wall seconds, seconds of the processor, and seconds of waiting for it."""
    values = np.linspace(0.0, 1.0, _SIZES[job])
    begin, processor, waited = time.perf_counter(), time.process_time(), waiting()
    for _ in range(_ROUNDS[job]):
        np.multiply(values, 1.0000001, out=values)
        np.add(values, 1e-9, out=values)
    return time.perf_counter() - begin, time.process_time() - processor, waiting() - waited


def waiting() -> float:
    """Seconds for which this thread was ready to run while others ran (Linux)."""
    told = read_schedstat()
    if told is None:
        raise SystemExit("This system does not tell how long a thread waits for the processor.")
    return told.waiting


def measure(pool: Pool, processes: int, job: str) -> tuple[float, float, float]:
    """Means over `processes` copies at the same time."""
    walls, processors, waits = zip(*pool.map(work, [job] * processes, chunksize=1), strict=True)
    return statistics.mean(walls), statistics.mean(processors), statistics.mean(waits)


def slowdowns(practice: Practice, pool: Pool, processes: int, job: str, pairs: int) -> list[tuple[float, float, float]]:
    """Of each pair, in percent: how much longer the job took beside a session at work than beside a paused one, by the
    clock and by the processor time it needed, which tells what sharing caches and memory costs; and how much more of
    its time it waited for the processor."""

    def timed(command: Pause | Resume) -> tuple[float, float, float]:
        practice.engine.request(command, NoneType)
        time.sleep(SETTLES)
        wall, processor, waited = measure(pool, processes, job)
        return wall, processor, waited / wall

    found = []
    for number in range(pairs):
        if number % 2:
            alone, shared = timed(Pause()), timed(Resume())
        else:
            shared, alone = timed(Resume()), timed(Pause())
        found.append(((shared[0] / alone[0] - 1) * 100, (shared[1] / alone[1] - 1) * 100, (shared[2] - alone[2]) * 100))
    return found


def use_gentle_limits(practice: Practice) -> None:
    for name, preference in PREFERENCES.items():
        if name.startswith(GENTLE) and preference.is_limit:
            practice.engine.request(SetPreference(name.removeprefix(GENTLE), preference.default), object)


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    jobs = [JOBS[sys.argv[2]]] if len(sys.argv) > 2 else list(JOBS.values())
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("spawn").Pool(cores) as pool, contributing() as practice:
        for level in ("default", "gentle"):
            if level == "gentle":
                use_gentle_limits(practice)
            for processes in sorted({1, cores}):
                for job in jobs:
                    found = slowdowns(practice, pool, processes, job, pairs)
                    walls, processors, waits = zip(*found, strict=True)
                    print(f"{level:8} {job:15} on {processes} of {cores} cores, {pairs} pairs", flush=True)
                    print(
                        f"    slower by the clock {_spread(walls)}, in processor time {_spread(processors)}; "
                        f"waited {_spread(waits)} more",
                        flush=True,
                    )


def _spread(values: Sequence[float]) -> str:
    low, middle, high = statistics.quantiles(values, n=4)
    return f"{middle:5.2f} % ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()

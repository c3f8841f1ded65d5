"""How much contributing slows down what the volunteer does.

A CPU-bound job of fixed size runs again and again while the practice project (trainer and embedded backbone) takes
turns between contributing and paused; each pair of neighbours gives one ratio, and the order within a pair alternates.
The job runs once on one core and once on every core; once within the cache and once streaming through memory; at the
default level and with the limits of gentle hours. How much processor time the session still got is told beside it.

Run it with `.venv/bin/python -m benchmarks.foreground [PAIRS]`.
"""

import multiprocessing
import os
import statistics
import sys
import time
from multiprocessing.pool import Pool
from types import NoneType

import numpy as np

from benchmarks.practice import Practice, contributing
from core.api.messages import Pause, Resume, SetLimit
from core.api.preferences import GENTLE, PREFERENCES

PAIRS = 20
SETTLES = 0.4
"""Seconds after a pause or a resume until the job begins."""
JOBS = ("in the cache", "through memory")
_ROUNDS = {"in the cache": 60_000, "through memory": 14}
_SIZES = {"in the cache": 1 << 14, "through memory": 1 << 23}
"""Numbers of 8 bytes: 128 KiB and 64 MiB."""


def work(job: str) -> float:
    """Processor-bound work of fixed size; the wall seconds it took."""
    values = np.linspace(0.0, 1.0, _SIZES[job])
    begin = time.perf_counter()
    for _ in range(_ROUNDS[job]):
        np.multiply(values, 1.0000001, out=values)
        np.add(values, 1e-9, out=values)
    return time.perf_counter() - begin


def measure(pool: Pool, processes: int, job: str) -> float:
    """Seconds until the last of `processes` copies is done."""
    return max(pool.map(work, [job] * processes, chunksize=1))


def slowdowns(practice: Practice, pool: Pool, processes: int, job: str, pairs: int) -> tuple[list[float], float]:
    """Of each pair: how much longer the job took beside a session at work than beside a paused one, in percent; and the
    processor time that the session got meanwhile, as a share of one core."""
    got = passed = 0.0

    def paused() -> float:
        practice.engine.request(Pause(), NoneType)
        time.sleep(SETTLES)
        return measure(pool, processes, job)

    def beside() -> float:
        nonlocal got, passed
        practice.engine.request(Resume(), NoneType)
        time.sleep(SETTLES)
        before, began = practice.processor_seconds(), time.perf_counter()
        seconds = measure(pool, processes, job)
        got += practice.processor_seconds() - before
        passed += time.perf_counter() - began
        return seconds

    found = []
    for number in range(pairs):
        if number % 2:
            alone, shared = paused(), beside()
        else:
            shared = beside()
            alone = paused()
        found.append((shared / alone - 1) * 100)
    return found, got / passed


def use_gentle_limits(practice: Practice) -> None:
    for name, preference in PREFERENCES.items():
        if name.startswith(GENTLE) and preference.travels:
            practice.engine.request(SetLimit(name.removeprefix(GENTLE), preference.default), object)


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    cores = os.cpu_count() or 1
    with multiprocessing.get_context("spawn").Pool(cores) as pool, contributing() as practice:
        for level in ("default", "gentle"):
            if level == "gentle":
                use_gentle_limits(practice)
            for processes in sorted({1, cores}):
                for job in JOBS:
                    found, got = slowdowns(practice, pool, processes, job, pairs)
                    low, middle, high = statistics.quantiles(found, n=4)
                    print(
                        f"{level:8} {job:15} on {processes} of {cores} cores: slower by {middle:5.2f} % "
                        f"(quartiles {low:5.2f} to {high:5.2f}, {pairs} pairs); the session got {got:.2f} of a core",
                        flush=True,
                    )


if __name__ == "__main__":
    main()

"""Whether other programs want the processor: then even idle priority takes a percent or two of it.

A microbatch that had to wait for the processor far longer than it computed, or a rest during which no core was free,
shows that the computer is busy. The session then rests until part of a core is free, and tries one microbatch each
minute. While it runs, one of the kernel's groups (sched(7), autogroup) takes 1.5 % of a saturated computer; at rest
it takes nothing.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

_CROWDED = 4.0
"""Waiting as a multiple of computing; peers of ours that share a core wait at most twice as long as they compute."""
_LONGEST = 60.0
"""Seconds of a rest before the next try."""
FREE = 0.5
"""Unused cores from which on the computer is not busy."""
_SHORTEST = 0.05
"""Seconds over which unused cores can be measured."""
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


@dataclass(frozen=True)
class ThreadTimes:
    """Times of the calling thread, in seconds since its start."""

    computing: float
    waiting: float
    """Ready to run while other threads ran."""


class Contention:
    """For one training loop and its thread. `free` returns the unused cores since its last call, None if that was
    too recent."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[], ThreadTimes | None] | None = None,
        free: Callable[[], float | None] | None = None,
    ) -> None:
        self._clock, self._read, self._free = clock, read or read_schedstat, free or FreeCores()
        self.begin()

    def begin(self) -> None:
        self._rests_since, self._before = self._clock(), self._read()
        self._resting = False

    def crowded(self, after_microbatch: bool) -> bool:
        """Whether to rest now; call it again and again while resting."""
        now, free = self._clock(), self._free()
        if after_microbatch:
            self._rests_since, self._resting = now, self._had_to_wait()
        elif free is not None and free < FREE:
            # Even while it rested no core was free.
            self._resting = self._before is not None
        if (free is not None and free >= FREE) or now >= self._rests_since + _LONGEST:
            self._resting = False
        self._before = self._read()
        return self._resting

    def _had_to_wait(self) -> bool:
        before, now = self._before, self._read()
        if before is None or now is None:
            return False
        return now.waiting - before.waiting > _CROWDED * (now.computing - before.computing)


class FreeCores:
    """Cores that were idle since the last call, or used at idle priority only."""

    def __init__(self) -> None:
        self._at, self._idle = time.monotonic(), _idle_seconds()

    def __call__(self) -> float | None:
        now, idle = time.monotonic(), _idle_seconds()
        passed = now - self._at
        # The kernel counts hundredths of a second.
        if passed < _SHORTEST:
            return None
        free = (idle - self._idle) / passed
        self._at, self._idle = now, idle
        return free


def _idle_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "nice", 0.0))


def read_schedstat() -> ThreadTimes | None:
    """From the kernel (proc(5)); None where it has no such file: then contention is not known."""
    if sys.platform != "linux":
        return None
    try:
        computing, waiting, _ = _SCHEDSTAT.read_text().split()
    except (OSError, ValueError):
        return None
    return ThreadTimes(int(computing) / 1e9, int(waiting) / 1e9)

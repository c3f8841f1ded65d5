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
"""Waiting as a multiple of computing: peers of our own on one core wait as long as they compute, twice at most."""
_LONGEST = 60.0
"""Seconds of a rest."""
FREE = 0.5
"""Cores: as much as this unused, the computer is not crowded."""
_SHORTEST = 0.05
"""Seconds over which unused cores can be measured."""
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


@dataclass(frozen=True)
class Waited:
    """Of the calling thread, in seconds since it began."""

    computing: float
    waiting: float
    """Ready to run while others ran."""


class Contention:
    """Of one training loop; always called from its thread. `free` gives the cores unused since it was last called, None
    if that is too short a time ago."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[], Waited | None] | None = None,
        free: Callable[[], float | None] | None = None,
    ) -> None:
        self._clock, self._read, self._free = clock, read or read_schedstat, free or FreeCores()
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
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
        # The kernel counts in hundredths of a second.
        if passed < _SHORTEST:
            return None
        free = (idle - self._idle) / passed
        self._at, self._idle = now, idle
        return free


def _idle_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "nice", 0.0))


def read_schedstat() -> Waited | None:
    """From the kernel (proc(5)); None where it has no such file: then contention is not known."""
    if sys.platform != "linux":
        return None
    try:
        computing, waiting, _ = _SCHEDSTAT.read_text().split()
    except (OSError, ValueError):
        return None
    return Waited(int(computing) / 1e9, int(waiting) / 1e9)

"""Whether others want the processor: then even idle priority takes a percent or two of it, and there is a better way.

A session's microbatch that had to wait for the processor far longer than it computed tells that the computer is busy.
The session then rests until part of a core is free, and looks now and then with one microbatch. While it runs, one of
the kernel's groups (sched(7), autogroup) takes 1.5 % of a saturated computer; at rest it takes nothing.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil

_CROWDED = 4.0
"""Waiting as a multiple of computing: peers of our own on one core wait as long as they compute, twice at most."""
_REST = 9.0
"""Rest as a multiple of what the crowded microbatch took."""
_LONGEST = 60.0
"""Seconds of such a rest."""
FREE = 0.5
"""Cores: as much as this unused, the computer is not crowded."""
_SCHEDSTAT = Path("/proc/thread-self/schedstat")


@dataclass(frozen=True)
class Waited:
    """Of the calling thread, in seconds since it began."""

    computing: float
    waiting: float
    """Ready to run while others ran."""


def rest_for(computed: float, waited: float, took: float) -> float:
    """Seconds to rest after a microbatch, 0 if the processor was free enough. All in seconds."""
    return min(_LONGEST, _REST * took) if waited > _CROWDED * computed else 0.0


class Contention:
    """Of one training loop; always called from its thread. `free` gives the cores unused since it was last called."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        read: Callable[[], Waited | None] | None = None,
        free: Callable[[], float] | None = None,
    ) -> None:
        self._clock, self._read, self._free = clock, read or read_schedstat, free or FreeCores()
        self.begin()

    def begin(self) -> None:
        """Count from now on."""
        self._then, self._before = self._clock(), self._read()
        self._until = float("-inf")

    def crowded(self, after_microbatch: bool) -> bool:
        """Whether to rest now; to be asked again and again while resting."""
        now, waited = self._clock(), self._read()
        free = self._free()
        if after_microbatch and waited is not None and self._before is not None:
            computed, waiting = waited.computing - self._before.computing, waited.waiting - self._before.waiting
            self._until = now + rest_for(computed, waiting, now - self._then)
        self._then, self._before = now, waited
        if free >= FREE:
            self._until = now
        return now < self._until


class FreeCores:
    """Cores that nobody used since the last call, or only somebody who stands back as we do."""

    def __init__(self) -> None:
        self._at, self._idle = time.monotonic(), _idle_seconds()

    def __call__(self) -> float:
        now, idle = time.monotonic(), _idle_seconds()
        passed = now - self._at
        # The kernel counts in hundredths of a second.
        if passed < 0.1:
            return 0.0
        free = (idle - self._idle) / passed
        self._at, self._idle = now, idle
        return free


def _idle_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.idle + getattr(times, "nice", 0.0))


def read_schedstat() -> Waited | None:
    """From the kernel (proc(5)); None where it does not tell, and then nothing is known of others."""
    if sys.platform != "linux":
        return None
    try:
        computing, waiting, _ = _SCHEDSTAT.read_text().split()
    except (OSError, ValueError):
        return None
    return Waited(int(computing) / 1e9, int(waiting) / 1e9)

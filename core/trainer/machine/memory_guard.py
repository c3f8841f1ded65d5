"""How much memory the whole session holds, against what the volunteer allows.

A limit of the kernel (RLIMIT_AS, RLIMIT_DATA) does not work: it counts each process separately and by address space,
torch reserves many times the address space that it uses, and a library that hits the limit fails somewhere in the
middle. So the session measures now and then, and ends with a message.
"""

import time
from collections.abc import Callable
from threading import Thread

import psutil

from core.api.errors import UsageError
from core.system import freed_memory
from core.trainer.machine.processor_time import session_processes

_EVERY = 10.0
"""Seconds between two measurements: each takes some milliseconds of the kernel's time."""


class MemoryGuard:
    def __init__(self, clock: Callable[[], float] = time.monotonic, held: Callable[[], int] | None = None) -> None:
        """`held` returns the bytes that the session holds."""
        self._clock = clock
        self._measure = held or session_memory
        self._next = clock()
        self.held = 0
        """Bytes at the last measurement."""
        self.held_at = 0.0
        """When that was, UTC seconds."""
        self._unchecked: int | None = None

    def check(self, limit: int) -> None:
        """Measure, if it is time to. `limit` is in bytes, 0 for half of the computer's memory.

        Raises:
            UsageError: the session holds more.
        """
        if self._is_due():
            self._record()
        self._compare(limit)

    def check_beside(self, limit: int) -> None:
        """As `check`, for a loop that waits for no measurement: what a thread measures is compared at a later call."""
        if self._is_due():
            Thread(target=self._record, name="memory", daemon=True).start()
        self._compare(limit)

    def _is_due(self) -> bool:
        now = self._clock()
        if now < self._next:
            return False
        self._next = now + _EVERY
        return True

    def _record(self) -> None:
        self.held = measured = self._measure()
        self.held_at = time.time()
        self._unchecked = measured

    def _compare(self, limit: int) -> None:
        held, self._unchecked = self._unchecked, None
        if held is not None and held > _allowed(limit):
            raise _exceeded(held, limit)

    def measure(self) -> int:
        """Bytes that the session holds now, without those that it has freed."""
        freed_memory.give_back()
        return self._measure()


class Room:
    """What is left of the memory that the volunteer allows."""

    def __init__(self, guard: MemoryGuard, limit: Callable[[], int]) -> None:
        """`limit` as in `MemoryGuard.check`."""
        self._guard, self._limit = guard, limit

    def bytes(self) -> int:
        """0 if there is none."""
        return max(0, _allowed(self._limit()) - self._guard.measure())

    def exceeded_by(self, size: int) -> UsageError:
        """The error that the session would hold too much with so many bytes more."""
        return _exceeded(self._guard.measure() + size, self._limit())


def _allowed(limit: int) -> int:
    return limit or psutil.virtual_memory().total // 2


def _exceeded(held: int, limit: int) -> UsageError:
    return UsageError("memory_over_limit" if limit else "memory_over_half", held=held, allowed=_allowed(limit))


def session_memory() -> int:
    """Bytes of this process and its descendants. Shared memory counts once (PSS, on Linux)."""
    total = 0
    for process in session_processes():
        try:
            memory = process.memory_full_info()
        except psutil.Error:
            continue
        total += getattr(memory, "pss", memory.rss)
    return total

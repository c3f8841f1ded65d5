"""Processor seconds of all processes of this session, also of those that have ended."""

import time
from collections.abc import Callable, Iterable, Sequence

import psutil

_EVERY = 5.0
"""Seconds between two searches for new processes, each of which goes through every process of the computer."""


class ProcessorTime:
    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        members: Callable[[], Iterable[psutil.Process]] | None = None,
    ) -> None:
        """`members` returns the session's processes."""
        self._clock = clock
        self._find = members or session_processes
        self._members: Sequence[psutil.Process] = ()
        self._next = float("-inf")
        self._seconds: dict[psutil.Process, float] = {}

    def read(self) -> float:
        """Never decreases."""
        now = self._clock()
        if now >= self._next:
            self._next = now + _EVERY
            self._members = tuple(self._find())
        for process in self._members:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            self._seconds[process] = max(self._seconds.get(process, 0.0), times.user + times.system)
        return sum(self._seconds.values())


def session_processes() -> list[psutil.Process]:
    """This process and all that descend from it."""
    own = psutil.Process()
    return [own, *own.children(recursive=True)]

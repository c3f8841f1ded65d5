"""Processor seconds of all processes of this session, also of those that have ended."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import psutil

_EVERY = 20.0
"""Seconds between two searches for new processes, which seldom begin: each goes through every process of the computer.
What one has computed before it is found counts then."""
_OFTEN = 0.1
"""Seconds between two readings: reading all processes takes half a millisecond."""
_PROGRAMS, _TRAINER, _SUBREAPER = "core.", "core.trainer", "core.system.subreaper"
"""Words of the command lines of our own programs."""


class ProcessorTime:
    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        members: Callable[[], Mapping[psutil.Process, float]] | None = None,
    ) -> None:
        """`members` returns the processes that count, and the part of each that does."""
        self._clock = clock
        self._find = members or (lambda: dict.fromkeys(session_processes(), 1.0))
        self._members: Mapping[psutil.Process, float] = {}
        self._next = self._read_at = float("-inf")
        self._seconds: dict[psutil.Process, float] = {}
        self._total = 0.0

    def read(self) -> float:
        """Never decreases."""
        now = self._clock()
        if now < self._read_at + _OFTEN:
            return self._total
        self._read_at = now
        if now >= self._next:
            self._next = now + _EVERY
            self._members = dict(self._find())
        for process, part in self._members.items():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            before = self._seconds.get(process, 0.0)
            self._seconds[process] = max(before, times.user + times.system)
            self._total += part * (self._seconds[process] - before)
        return self._total


def session_processes() -> list[psutil.Process]:
    """This process and all that descend from it."""
    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def with_shared_ones(own: psutil.Process | None = None) -> dict[psutil.Process, float]:
    """The processes of a session, and its part of those that all trainers of the profile share: engine, backbone,
    subreapers. What they compute is computed for contributing, too. `own` is this process if it is not given."""
    own = own or psutil.Process()
    session_of: dict[int, int] = {}
    everybody = _descendants(_engine(own))
    for process in everybody:
        is_trainer = process == own or _is_trainer(process)
        session = session_of.get(_parent(process))
        session_of[process.pid] = process.pid if is_trainer and not session else session or 0
    trainers = len(set(session_of.values()) - {0})
    parts = {own.pid: 1.0, 0: 1.0 / max(1, trainers)}
    return {each: parts[session_of[each.pid]] for each in everybody if session_of[each.pid] in parts}


def _engine(own: psutil.Process) -> psutil.Process:
    """The outermost of our own programs around this one."""
    found = own
    with suppress(psutil.Error):
        for parent in own.parents():
            if not any(word.startswith(_PROGRAMS) for word in parent.cmdline()):
                break
            found = parent
    return found


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    """With the process itself, parents first."""
    return [process, *process.children(recursive=True)]


def _is_trainer(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        words = process.cmdline()
        # A subreaper's has the command that it runs.
        return _TRAINER in words and _SUBREAPER not in words
    return False


def _parent(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return process.ppid()
    return 0

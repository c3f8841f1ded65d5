"""How much of the processor a session uses, from the seconds it has computed."""

from collections import deque

from core.api.session import Report
from core.api.snapshot import ProcessorUse

_SPAN = 6.0
"""Seconds over which use is measured: a microbatch and the rest after it may take one or two."""


class ProcessorWatch:
    """Of one session after the other."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()
        self._memory = 0, 0.0

    def begin(self) -> None:
        """Measure a new session."""
        self._seen.clear()
        self._memory = 0, 0.0

    def add(self, report: Report, now: float) -> None:
        if self._seen and now < self._seen[-1][0]:
            self._seen.clear()  # the clock was set back
        self._seen.append((now, report.counters.cpu_seconds))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _SPAN:
            self._seen.popleft()
        self._memory = report.memory, report.memory_at

    def read(self, threads: int) -> ProcessorUse | None:
        """None before there are two reports."""
        if len(self._seen) < 2:
            return None
        (began, before), (now, seconds) = self._seen[0], self._seen[-1]
        share = (seconds - before) / max(now - began, 0.1) / threads
        return ProcessorUse(min(100, max(0, round(100 * share))), *self._memory)

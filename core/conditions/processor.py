"""The processor: how much of it other programs use.

What runs at idle priority, as sessions do, takes nothing from the others and is not counted.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from core.api.message import Message
from core.api.sensors import IN_USE, Attempt, SensorInfo
from core.conditions.source import NotAvailable

SUSTAINED = 10.0
"""Seconds that use must last: a program that starts, or a page that loads, keeps nobody waiting."""
_LINGER = 30.0
"""Seconds for which the last sustained use counts, so that a pause for breath does not begin a session."""
_GRID = 5
"""Percent to which use is rounded, so that it does not cause a snapshot with every reading."""
_SOURCE = "counters of the kernel"


@dataclass(frozen=True)
class ProcessorTimes:
    """Seconds of all cores together since the computer started."""

    busy: float
    """At a higher priority than idle."""
    all: float


@dataclass(frozen=True)
class Processor:
    others: int | None = None
    """Percent of all cores that other programs have used without a break; None: not known, or not yet."""


class ProcessorSensor:
    name = "processor"
    every = 2.0

    def __init__(self, tick: Callable[[], float], read: Callable[[], ProcessorTimes] | None = None) -> None:
        """`tick` is a monotonic clock, in seconds."""
        self._tick, self._read = tick, read or processor_times
        self._last: ProcessorTimes | None = None
        self._first = 0.0
        """When counting began."""
        self._shares: deque[tuple[float, float]] = deque()
        self._sustained: deque[tuple[float, float]] = deque()
        self._value = Processor()
        self._is_counted = True

    def read(self) -> Processor:
        try:
            now, times, before = self._tick(), self._read(), self._last
        except NotAvailable:
            self._is_counted = False
            return self._value
        self._last = times
        if before is None:
            self._first = now
        elif times.all > before.all:
            _keep(self._shares, now, (times.busy - before.busy) / (times.all - before.all), SUSTAINED)
            # Readings come seldom while nothing is wanted; each share reaches back to the reading before it.
            if now - self._first >= SUSTAINED:
                _keep(self._sustained, now, min(share for _, share in self._shares), _LINGER)
                highest = max(share for _, share in self._sustained)
                self._value = Processor(round(100 * highest / _GRID) * _GRID)
        return self._value

    def info(self) -> SensorInfo:
        if not self._is_counted:
            return SensorInfo(self.name, Message("processor_unknown"), False)
        if self._value.others is None:
            return SensorInfo(self.name, Message("processor_measured_soon"), True, (Attempt(_SOURCE, IN_USE),))
        text = Message("processor_use", {"share": self._value.others / 100})
        return SensorInfo(self.name, text, True, (Attempt(_SOURCE, IN_USE),))


def processor_times() -> ProcessorTimes:
    """Of this computer. Raises NotAvailable where the kernel does not count idle priority apart."""
    import psutil

    times = psutil.cpu_times()
    if not hasattr(times, "nice"):
        raise NotAvailable("processor_unknown")
    # What a virtual computer's host takes away (`steal`) is nobody's use here; `user` has that of guests.
    busy = sum(getattr(times, name, 0.0) for name in ("user", "system", "irq", "softirq"))
    rest = sum(getattr(times, name, 0.0) for name in ("idle", "nice", "iowait", "steal"))
    return ProcessorTimes(busy, busy + rest)


def _keep(values: deque[tuple[float, float]], now: float, value: float, seconds: float) -> None:
    """Append a value, and drop those that are older than `seconds`."""
    values.append((now, value))
    while values[0][0] < now - seconds:
        values.popleft()

"""How long to rest between two microbatches, so that processor and GPU stay under their ceilings.

`rest` is the whole control law, pure; `Throttle` feeds it from clock and sensor. It controls the duty: the part of the
time that is spent computing. Each ceiling allows a duty, the lowest counts, and the rest after a microbatch is as long
as that duty needs: so utilisation, temperature and power move in the rhythm of microbatches and not in waves.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.api.session_settings import Limits
from core.conditions.energy import Joules, Rapl
from core.conditions.nvml import Gpu
from core.trainer.machine.contention import Contention
from core.trainer.machine.processor_time import ProcessorTime, with_shared_ones

LONGEST_REST = 0.25
"""Seconds of one rest; a longer one is made of several, and the GPU is read again before each."""
_OFTEN, _SELDOM = 0.1, 0.25
"""Seconds of computing on the processor between two looks at its share and at other programs, where the share has a
ceiling, and where it has none: each look takes half a millisecond, a microbatch perhaps fifty."""
_SHORTEST_REST = 0.001
"""Seconds; a shorter rest is added to the next."""
_BAND = 6.0
"""Degrees below the ceiling within which the duty falls from 1 to 0."""
_COOLS_BY = 4.0
"""Degrees by which a GPU that exceeded its ceiling cools before it computes again."""
_SMOOTHED_OVER = 1.0
"""Seconds; NVML's temperatures are whole degrees, and one degree must not change the duty abruptly."""
_POWER_MARGIN = 0.97
"""Target as a part of the ceiling, so that noise stays below it."""
_POWER_FALLS_IN, _POWER_RISES_IN = 1.5, 6.0
"""Seconds in which the duty adapts to a measured power that is too high, or lower than allowed."""
_LEAST_DUTY = 0.01
_FURTHER = 1.25
"""How far the duty for power may exceed the effective duty."""
_MOST_CREDIT = 0.1
"""Seconds of a too long rest that may be caught up on; more would be a burst above the ceiling."""
_CAUGHT_UP = 1.2
"""Seconds of the time at the allowed duty, where the share alone is a ceiling: two percent of a minute, so that waiting
for peers loses nothing of the share and no minute has much more than it."""


@dataclass(frozen=True)
class Ceilings:
    """Ceilings from the volunteer's limits; None: no ceiling."""

    share: float = 1.0
    """Of the time, 0 to 1."""
    temperature: float | None = None
    """Degrees Celsius."""
    power: float | None = None
    """Watts."""


@dataclass(frozen=True)
class Reading:
    """What the sensor reads; None: it cannot."""

    temperature: float | None = None
    power: float | None = None
    power_limit: float | None = None
    """Watts that the driver enforces: the most that the GPU can draw."""


@dataclass(frozen=True)
class Memory:
    """What the law remembers from one call to the next."""

    credit: float = 0.0
    """Seconds that may be computed now, which grow with time at the rate of the duty. Negative: rest first."""
    warmth: float | None = None
    """The temperature, smoothed."""
    cooling: bool = False
    """The temperature exceeded its ceiling, and the GPU has not cooled enough yet."""
    power_duty: float = 1.0
    """The duty that keeps the power under its ceiling, as far as known."""
    power_ceiling: float | None = None
    """The ceiling that `power_duty` belongs to."""


def rest(ceilings: Ceilings, reading: Reading, busy: float, passed: float, memory: Memory) -> tuple[float, Memory]:
    """Seconds to rest now, at most `LONGEST_REST`, and the new memory.

    `busy` is the time just spent computing, 0 after a rest; `passed` is the time since the last call.
    """
    warmth = _smooth(memory.warmth, reading.temperature, passed)
    cooling = _must_cool(ceilings.temperature, reading.temperature, memory.cooling)
    others = min(ceilings.share, 0.0 if cooling else _cool_duty(ceilings.temperature, warmth))
    power_duty = _power_duty(ceilings.power, reading, others, passed, memory)
    duty = min(others, power_duty)
    credit = min(_most_credit(ceilings), memory.credit + duty * passed - busy)
    seconds = min(LONGEST_REST, max(0.0, -credit / max(duty, _LEAST_DUTY)))
    remembered = Memory(credit, warmth, cooling, power_duty, ceilings.power)
    return (LONGEST_REST if duty == 0.0 else seconds), remembered


def _most_credit(ceilings: Ceilings) -> float:
    is_hot = ceilings.temperature is not None or ceilings.power is not None
    return _MOST_CREDIT if is_hot else max(_MOST_CREDIT, _CAUGHT_UP * ceilings.share)


def _smooth(before: float | None, now: float | None, passed: float) -> float | None:
    # A rise counts at once, to be safe.
    if now is None or before is None or now > before:
        return now
    return before + (now - before) * min(1.0, passed / _SMOOTHED_OVER)


def _must_cool(ceiling: float | None, temperature: float | None, cooling: bool) -> bool:
    if ceiling is None or temperature is None:
        return False
    return temperature > ceiling - (_COOLS_BY if cooling else 0.0)


def _cool_duty(ceiling: float | None, warmth: float | None) -> float:
    if ceiling is None or warmth is None:
        return 1.0
    return max(0.0, min(1.0, (ceiling - warmth) / _BAND))


def _power_duty(ceiling: float | None, reading: Reading, others: float, passed: float, memory: Memory) -> float:
    """Adapts the duty in proportion to the measured power. Before the first measurement, assumes the highest power.

    `others` is the duty that the other ceilings allow; far above it, the measured power has no meaning.
    """
    if ceiling is None:
        return 1.0
    surely = min(1.0, ceiling * _POWER_MARGIN / reading.power_limit) if reading.power_limit else _LEAST_DUTY
    if memory.power_ceiling is None:
        return max(surely, _LEAST_DUTY)
    duty = memory.power_duty * min(1.0, ceiling / memory.power_ceiling)
    if reading.power:
        ratio = ceiling * _POWER_MARGIN / reading.power
        duty *= ratio ** min(1.0, passed / (_POWER_FALLS_IN if ratio < 1.0 else _POWER_RISES_IN))
    return min(1.0, max(_LEAST_DUTY, min(duty, max(surely, others * _FURTHER))))


class Throttle:
    """Applies the law to one session. `read` gives the session's GPU, None if it does not answer.

    The processor's share is taken of processor time, so that waiting for peers is no computing; the GPU's of the time
    in which a microbatch is under way. `processor_time` gives seconds, over all threads and processes of the session,
    with its part of those that other sessions use, too. `contention` knows when others want the processor; without it
    they are not considered. `rapl` is the processor's counter.
    """

    def __init__(
        self,
        read: Callable[[], Gpu | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        processor_time: Callable[[], float] | None = None,
        contention: Contention | None = None,
        rapl: Rapl | None = None,
    ) -> None:
        self._read, self._clock, self._contention = read, clock, contention
        self._processor_time = processor_time or ProcessorTime(clock, with_shared_ones).read
        self._processor, self._gpu = Memory(), Memory()
        self._share = 1.0
        self._rapl = rapl or Rapl()
        self._joules = Joules()
        self.begin()

    def begin(self) -> None:
        """Start measuring; time before, of preparing or holding, does not count."""
        self._then, self._used = self._clock(), self._processor_time()
        self._seen: Gpu | None = None
        self._last_reading = self._seen_at = float("-inf")
        self._rapl.begin()
        if self._contention is not None:
            self._contention.begin()

    @property
    def joules(self) -> Joules:
        """Energy used while this session was at work, everything else on processor and GPU included."""
        return replace(self._joules, processor=self._rapl.joules)

    def rest(self, limits: Limits, threads: int, busy: float = 0.0) -> float:
        """Seconds to rest now; call it again after each rest until it is 0. `busy` is the microbatch's time."""
        now, looks = self._clock(), _SELDOM if limits.processor_share == 100 else _OFTEN
        if busy and self._read is None and now < self._then + looks:
            return 0.0
        used = self._processor_time()
        passed, computed = now - self._then, (used - self._used) / threads
        self._then, self._used = now, used
        ceilings = Ceilings(share=limits.processor_share / 100)
        if ceilings.share != self._share:
            # What was too much for another ceiling is nothing to rest for now.
            self._share, self._processor = ceilings.share, Memory()
        seconds, self._processor = rest(ceilings, Reading(), computed, passed, self._processor)
        if self._read is not None:
            seconds = max(seconds, self._rest_for_gpu(limits, busy, passed, now))
        if self._contention is not None and self._contention.crowded(busy > 0):
            seconds = LONGEST_REST
        return seconds if seconds >= _SHORTEST_REST else 0.0

    def _rest_for_gpu(self, limits: Limits, busy: float, passed: float, now: float) -> float:
        if now >= self._last_reading + LONGEST_REST:
            self._last_reading = now
            self._read_gpu(now)
        if self._seen is None:
            # Without a thermometer nothing is computed; the engine finds out why and shows it.
            return LONGEST_REST
        ceilings = Ceilings(limits.gpu_share / 100, limits.gpu_temperature, limits.gpu_power or None)
        reading = Reading(self._seen.temperature, self._seen.power, self._seen.power_limit)
        seconds, self._gpu = rest(ceilings, reading, busy, passed, self._gpu)
        return seconds

    def _read_gpu(self, now: float) -> None:
        before, since = self._seen, now - self._seen_at
        self._seen, self._seen_at = self._read() if self._read else None, now
        if before is None or self._seen is None:
            return
        if before.energy is not None and self._seen.energy is not None:
            # The driver's counter starts at 0 when it is loaded again.
            self._joules = self._joules.plus(gpu=max(0.0, self._seen.energy - before.energy))
        elif before.power is not None:
            # Too old for a counter: its watts are those of one moment.
            self._joules = self._joules.plus(estimated=before.power * since)

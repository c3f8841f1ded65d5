"""A small GPU to govern: power follows the duty, a fast die sits on a slow heat sink, and NVML shows whole degrees.

Two first-order lags in series, the usual lumped model (Incropera, Fundamentals of Heat and Mass Transfer, chapter 5).
"""

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from core.trainer.machine.throttle import Ceilings, Memory, Reading, rest

_STEP = 0.01


@dataclass
class Model:
    idle_power: float = 30.0
    full_power: float = 250.0
    power_limit: float = 300.0
    ambient: float = 30.0
    sink: float = 0.16
    """Degrees per watt, reached in minutes."""
    die: float = 0.06
    """Degrees per watt above the sink, reached in a second or two."""
    sink_lag: float = 60.0
    die_lag: float = 1.5
    power_window: float = 1.0
    """Seconds over which the driver averages the power it shows."""
    watts: deque[float] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.sink_rise, self.die_rise = self.idle_power * self.sink, self.idle_power * self.die
        self.watts.extend([self.idle_power] * round(self.power_window / _STEP))

    @property
    def temperature(self) -> float:
        return self.ambient + self.sink_rise + self.die_rise

    @property
    def power(self) -> float:
        return sum(self.watts) / len(self.watts)

    def read(self) -> Reading:
        return Reading(math.floor(self.temperature), self.power, self.power_limit)

    def run(self, seconds: float, *, busy: bool) -> None:
        power = self.full_power if busy else self.idle_power
        for _ in range(max(1, round(seconds / _STEP))):
            self.sink_rise += (power * self.sink - self.sink_rise) * _STEP / self.sink_lag
            self.die_rise += (power * self.die - self.die_rise) * _STEP / self.die_lag
            self.watts.append(power)
            self.watts.popleft()


@dataclass(frozen=True)
class Moment:
    at: float
    temperature: float
    power: float
    duty: float
    """Over the second before."""


def simulate(model: Model, ceilings: Ceilings, seconds: float, microbatch: float) -> Iterator[Moment]:
    """Microbatches and the rests that the law asks for; a moment after each second."""
    memory, now, busy_in_second, told = Memory(), 0.0, 0.0, 1.0
    while now < seconds:
        model.run(microbatch, busy=True)
        now += microbatch
        busy_in_second += microbatch
        pause, memory = rest(ceilings, model.read(), microbatch, microbatch, memory)
        while pause >= _STEP / 2:
            pause = max(_STEP, round(pause / _STEP) * _STEP)
            model.run(pause, busy=False)
            now += pause
            pause, memory = rest(ceilings, model.read(), 0.0, pause, memory)
            while now >= told:
                yield Moment(told, model.temperature, model.power, busy_in_second)
                busy_in_second, told = 0.0, told + 1.0
        while now >= told:
            yield Moment(told, model.temperature, model.power, busy_in_second)
            busy_in_second, told = 0.0, told + 1.0

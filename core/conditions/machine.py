"""What the machine is doing: all sensors together."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from core.api.sensors import SensorInfo
from core.conditions import presence
from core.conditions.bus import Bus
from core.conditions.full_screen import ActiveWindow, FullScreen, FullScreenSensor, GameMode
from core.conditions.gpu import GpuSensor, GpuStates
from core.conditions.idle.x11 import X11
from core.conditions.network import (
    Network,
    NetworkManagerMetered,
    NetworkManagerState,
    NetworkSensor,
    NoRoute,
    Route,
)
from core.conditions.power import Power, PowerSensor, System, UPower
from core.conditions.presence import Presence, PresenceSensor
from core.conditions.programs import ProgramsSensor, RunningPrograms

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Readings:
    """The readings of all sensors. Without arguments nothing is known, and nothing prevents contributing."""

    presence: Presence = field(default_factory=Presence)
    full_screen: FullScreen = field(default_factory=FullScreen)
    programs: RunningPrograms = field(default_factory=RunningPrograms)
    power: Power = field(default_factory=Power)
    network: Network = field(default_factory=Network)
    gpus: GpuStates = field(default_factory=GpuStates)


class Sensor(Protocol):
    """`every` is the shortest useful time between two readings, in seconds."""

    name: str
    every: float

    def read(self) -> Any:
        """A frozen value; never raises when the machine merely has no answer."""
        ...

    def info(self) -> SensorInfo: ...


class Machine(Protocol):
    """Something that has sensors: this computer, or none."""

    def look_for(self, programs: Sequence[str]) -> None:
        """Set the programs to look for, from the next reading on."""
        ...

    def read(self) -> Readings:
        """May take seconds if a service hangs: always call it from the same thread."""
        ...

    def info(self) -> list[SensorInfo]: ...


class NoMachine:
    """A machine without sensors, for tests."""

    def look_for(self, programs: Sequence[str]) -> None:
        pass

    def read(self) -> Readings:
        return Readings()

    def info(self) -> list[SensorInfo]:
        return []


@dataclass
class _Seat:
    """A sensor, when it is due, and whether its failure was logged."""

    sensor: Sensor
    due: float = 0.0
    value: Any = None
    failed: bool = False


class ThisMachine:
    def __init__(self, clock: Callable[[], float] = time.time, tick: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives UTC seconds; `tick` seconds of a monotonic clock."""
        session_bus, system_bus, x11 = Bus("SESSION"), Bus("SYSTEM"), X11()
        self._tick = tick
        self._programs = ProgramsSensor()
        sources = presence.sources(session_bus, system_bus, x11, clock, tick)
        self._seats = {
            "presence": _Seat(PresenceSensor(sources, clock, tick)),
            "full_screen": _Seat(FullScreenSensor(ActiveWindow(x11), GameMode(session_bus), tick)),
            "programs": _Seat(self._programs),
            "power": _Seat(PowerSensor([UPower(system_bus), System()], tick)),
            "network": _Seat(
                NetworkSensor(
                    [Route(), NetworkManagerState(system_bus), NoRoute()], [NetworkManagerMetered(system_bus)], tick
                )
            ),
            "gpus": _Seat(GpuSensor(clock, tick)),
        }

    def look_for(self, programs: Sequence[str]) -> None:
        self._programs.wanted = tuple(programs)
        self._seats["programs"].due = 0.0

    def read(self) -> Readings:
        for seat in self._seats.values():
            self._read(seat)
        known = {name: seat.value for name, seat in self._seats.items() if seat.value is not None}
        return Readings(**known)

    def info(self) -> list[SensorInfo]:
        return [seat.sensor.info() for seat in self._seats.values()]

    def _read(self, seat: _Seat) -> None:
        now = self._tick()
        if now < seat.due:
            return
        seat.due = now + seat.sensor.every
        try:
            seat.value = seat.sensor.read()
        except Exception:  # noqa: BLE001 - a failing sensor must not stop the others
            seat.value = None
            if not seat.failed:
                _log.exception("The sensor for %s failed.", seat.sensor.name)
            seat.failed = True

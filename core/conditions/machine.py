"""What the machine is doing: all sensors together."""

import logging
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
from core.conditions.nvml import installed_torch
from core.conditions.power import Power, PowerSensor, System, UPower
from core.conditions.presence import Presence, PresenceSensor
from core.conditions.processor import Processor, ProcessorSensor
from core.conditions.programs import ProgramsSensor, RunningPrograms
from core.conditions.source import Source

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Readings:
    """The readings of all sensors. Without arguments nothing is known, and nothing prevents contributing."""

    presence: Presence = field(default_factory=Presence)
    full_screen: FullScreen = field(default_factory=FullScreen)
    programs: RunningPrograms = field(default_factory=RunningPrograms)
    processor: Processor = field(default_factory=Processor)
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


class Listener(Protocol):
    """A connection on which services announce what has changed."""

    @property
    def files(self) -> list[int]:
        """Descriptors that can be read then."""
        ...

    def heard(self) -> bool:
        """Whether something was announced. Never waits."""
        ...


@dataclass
class _Entry:
    """A sensor, when it is due, and whether its failure was logged."""

    sensor: Sensor
    due: float = 0.0
    value: Any = None
    failed: bool = False


class Machine:
    """Reads sensors, each when it is due. Always call it from the same thread."""

    def __init__(
        self,
        sensors: Mapping[str, Sensor],
        tick: Callable[[], float] = time.monotonic,
        listeners: Sequence[Listener] = (),
    ) -> None:
        """`sensors` by the field of `Readings`; `tick` gives seconds of a monotonic clock; `listeners` are of sensors
        that need not be asked again and again."""
        self._tick, self._listeners = tick, listeners
        self._entries = {name: _Entry(sensor) for name, sensor in sensors.items()}

    def detect_programs(self, programs: Sequence[str]) -> None:
        """Set the programs to detect, from the next reading on. From any thread."""
        for entry in self._entries.values():
            if isinstance(entry.sensor, ProgramsSensor):
                entry.sensor.wanted = tuple(programs)
                entry.due = 0.0

    def read(self) -> Readings:
        """May take seconds if a service hangs."""
        for entry in self._entries.values():
            self._read(entry)
        known = {name: entry.value for name, entry in self._entries.items() if entry.value is not None}
        return Readings(**known)

    @property
    def announces(self) -> bool:
        """Whether all that can change at any moment is announced: see `wait`."""
        return all(
            getattr(entry.sensor, "announces", False) for entry in self._entries.values() if not entry.sensor.every
        )

    def wait(self, wakeup: int, seconds: float) -> None:
        """Wait until something was announced, or the descriptor `wakeup` can be read."""
        until = self._tick() + seconds
        # Of all, so that none has something unread; and before waiting, because a reading hears, too.
        while True not in [listener.heard() for listener in self._listeners]:
            files = [wakeup, *(file for listener in self._listeners for file in listener.files)]
            left = until - self._tick()
            if left <= 0 or wakeup in select.select(files, [], [], left)[0]:
                return

    def info(self) -> list[SensorInfo]:
        return [entry.sensor.info() for entry in self._entries.values()]

    def _read(self, entry: _Entry) -> None:
        now = self._tick()
        if now < entry.due:
            return
        entry.due = now + entry.sensor.every
        try:
            entry.value = entry.sensor.read()
        except Exception:  # noqa: BLE001 - a failing sensor must not stop the others
            entry.value = None
            if not entry.failed:
                _log.exception("The sensor for %s failed.", entry.sensor.name)
            entry.failed = True


def this_machine(torch: Callable[[], Path | None] = installed_torch) -> Machine:
    """This computer with all its sensors; `torch` finds the folder of the PyTorch that sessions use."""
    clock, tick = time.time, time.monotonic
    session_bus, system_bus, x11 = Bus("SESSION"), Bus("SYSTEM"), X11()
    online: list[Source[bool]] = [Route(), NetworkManagerState(system_bus), NoRoute()]
    return Machine(
        {
            "presence": PresenceSensor(presence.sources(session_bus, system_bus, x11, clock, tick), clock, tick),
            "full_screen": FullScreenSensor(ActiveWindow(x11), GameMode(session_bus), tick),
            "programs": ProgramsSensor(),
            "processor": ProcessorSensor(tick),
            "power": PowerSensor([UPower(system_bus), System()], tick),
            "network": NetworkSensor(online, [NetworkManagerMetered(system_bus)], tick),
            "gpus": GpuSensor(clock, tick, torch=torch),
        },
        listeners=(x11, session_bus),
    )

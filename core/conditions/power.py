"""Power: whether the computer runs on battery, and how full the battery is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.api.message import Message
from core.api.sensors import SensorInfo
from core.conditions.bus import BusSource
from core.conditions.source import RETRY, Chain, NotAvailable, Source


@dataclass(frozen=True)
class Power:
    on_battery: bool | None = None
    """None: there is no battery, or the state is unknown."""
    level: int | None = None
    """Percent."""


class PowerSensor:
    name = "power"
    every = 5.0

    def __init__(self, sources: Sequence[Source[Power]], tick: Callable[[], float]) -> None:
        self._chain = Chain(sources, tick)
        self._value = Power()

    def read(self) -> Power:
        now, before = self._chain.read() or Power(), self._value
        # A battery gauge that wavers must not end the pause that a low level began.
        wavers = now.on_battery and before.on_battery and (now.level or 0) > (before.level or 100)
        self._value = replace(now, level=before.level) if wavers else now
        return self._value

    def info(self) -> SensorInfo:
        known = self._chain.in_use is not None
        if self._value.on_battery is None:
            text = Message("battery_missing") if known else Message("battery_unknown")
        else:
            source = Message("on_battery") if self._value.on_battery else Message("plugged_in")
            level = self._value.level
            text = Message("power", {"source": source})
            if level is not None:
                text = Message("power_level", {"source": source, "level": level / 100})
        return SensorInfo(self.name, text, known, self._chain.tried)


class UPower(BusSource):
    """UPower, the service that desktops use."""

    name = "UPower"
    _SERVICE = "org.freedesktop.UPower"
    _DISPLAY = "/org/freedesktop/UPower/devices/DisplayDevice"

    def read(self) -> Power:
        """Raises NotAvailable."""
        if not self._bus.get(self._SERVICE, self._DISPLAY, f"{self._SERVICE}.Device", "IsPresent"):
            return Power()
        on_battery = self._bus.get(self._SERVICE, "/org/freedesktop/UPower", self._SERVICE, "OnBattery")
        level = self._bus.get(self._SERVICE, self._DISPLAY, f"{self._SERVICE}.Device", "Percentage")
        return Power(bool(on_battery), round(level))


class System:
    """The operating system, through psutil."""

    name = "system"
    retry = RETRY

    def read(self) -> Power:
        """Raises NotAvailable."""
        import psutil

        ask = getattr(psutil, "sensors_battery", None)
        if ask is None:
            raise NotAvailable("system_silent")
        battery = ask()
        if battery is None:
            return Power()
        plugged = battery.power_plugged
        return Power(None if plugged is None else not plugged, round(battery.percent))

"""Presence: when mouse or keyboard were last used."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.api.message import Message
from core.api.sensors import SensorInfo
from core.conditions.bus import Bus
from core.conditions.idle.linux import Logind, Mutter, ScreenSaver, XScreenSaver
from core.conditions.idle.wayland import IdleNotify
from core.conditions.idle.x11 import X11
from core.conditions.source import Chain, Source

_JITTER = 1.0
"""Seconds by which two readings of the same input may differ."""


@dataclass(frozen=True)
class Presence:
    last_input: float | None = None
    """UTC seconds; None: unknown, which does not mean that the computer is unused."""


class PresenceSensor:
    name = "presence"
    every = 0.0

    def __init__(self, sources: Sequence[Source[float]], clock: Callable[[], float], tick: Callable[[], float]) -> None:
        self._chain = Chain(sources, tick)
        self._clock = clock
        self._value = Presence()

    def read(self) -> Presence:
        idle = self._chain.read()
        if idle is None:
            self._value = Presence()
        elif self._is_news(last_input := self._clock() - idle):
            self._value = Presence(last_input)
        return self._value

    @property
    def announces(self) -> bool:
        """See `Chain.announces`."""
        return self._chain.announces

    def info(self) -> SensorInfo:
        last = self._value.last_input
        if last is None:
            text = Message("input_unknown")
        else:
            text = Message("last_input", {"ago": max(self._clock() - last, 0.0)})
        return SensorInfo(self.name, text, last is not None, self._chain.tried)

    def _is_news(self, last_input: float) -> bool:
        known = self._value.last_input
        return known is None or abs(last_input - known) > _JITTER


def sources(
    session_bus: Bus, system_bus: Bus, x11: X11, clock: Callable[[], float], tick: Callable[[], float]
) -> list[Source[float]]:
    """The sources of this platform, the most reliable first."""
    if sys.platform == "darwin":
        from core.conditions.idle.macos import HidIdleTime

        return [HidIdleTime()]
    if sys.platform == "win32":
        from core.conditions.idle.windows import LastInput

        return [LastInput()]
    return [
        Mutter(session_bus),
        IdleNotify(tick),
        XScreenSaver(x11),
        ScreenSaver(session_bus),
        Logind(system_bus, clock),
    ]

"""Full screen: whether a program fills the screen, or a game has asked for performance."""

from collections.abc import Callable
from dataclasses import dataclass

from core.api.message import Message
from core.api.sensors import SensorInfo
from core.conditions.bus import Bus, BusSource
from core.conditions.idle.x11 import X11, Display
from core.conditions.source import RETRY, Chain, Latch, NotAvailable, Source

LINGER = 10.0
"""Seconds that full screen counts on after it ended: players leave a game for a moment to look something up."""
_GAME_MODE = "com.feralinteractive.GameMode"


@dataclass(frozen=True)
class FullScreen:
    what: Message | None = None
    """What fills the screen; None if nothing does."""


class FullScreenSensor:
    name = "full screen"
    every = 0.0

    def __init__(
        self, window: Source[Message | None], games: Source[Message | None], tick: Callable[[], float]
    ) -> None:
        self._chains = [Chain([window], tick), Chain([games], tick)]
        self._latch = Latch(LINGER, tick)
        self._value = FullScreen()

    def read(self) -> FullScreen:
        seen = next((what for chain in self._chains if (what := chain.read())), None)
        if seen is not None or not self._latch.holds(False):
            self._value = FullScreen(seen)
        self._latch.holds(seen is not None)
        return self._value

    @property
    def announces(self) -> bool:
        """See `Chain.announces`."""
        return all(chain.announces for chain in self._chains)

    def info(self) -> SensorInfo:
        known = any(chain.in_use for chain in self._chains)
        nothing = Message("screen_free") if known else Message("screen_unknown")
        tried = tuple(attempt for chain in self._chains for attempt in chain.tried)
        return SensorInfo(self.name, Message("screen", {"what": self._value.what or nothing}), known, tried)


class ActiveWindow:
    """The state that the window manager gives the active window (Extended Window Manager Hints, _NET_WM_STATE).

    Useful under Wayland too: most games run as X programs there.
    """

    name = "X11 (active window)"
    retry = RETRY
    announces = True

    def __init__(self, x11: X11) -> None:
        self._x11 = x11

    def read(self) -> Message | None:
        """What fills the screen, None if nothing does. Raises NotAvailable."""
        return self._x11.ask(_full_screen)


class GameMode(BusSource):
    """Feral's GameMode: games register while they run. The service may start at any time, so every poll asks."""

    name = "GameMode"
    retry = 0.0
    announces = True

    def __init__(self, bus: Bus) -> None:
        super().__init__(bus)
        bus.listen_to(_GAME_MODE)

    def read(self) -> Message | None:
        """What runs, None if no game does. Raises NotAvailable."""
        games = self._bus.get(_GAME_MODE, "/com/feralinteractive/GameMode", _GAME_MODE, "ClientCount")
        return Message("game_running") if games > 0 else None


def _full_screen(display: Display) -> Message | None:
    manager = display.numbers(display.root, "_NET_SUPPORTING_WM_CHECK")
    if not manager:
        raise NotAvailable("window_manager_missing")
    active = next(iter(display.numbers(display.root, "_NET_ACTIVE_WINDOW")), 0)
    display.watch(active)
    if not active or display.atom("_NET_WM_STATE_FULLSCREEN") not in display.numbers(active, "_NET_WM_STATE"):
        return None
    names = display.text(active, "WM_CLASS").split("\0")
    name = "".join(letter for letter in names[1] if letter.isprintable())[:40] if len(names) > 1 else ""
    return Message("screen_filled_by", {"program": name}) if name else Message("screen_filled")

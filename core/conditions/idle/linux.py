"""Idle time of a Linux desktop, in seconds: one class per source."""

import os
from collections.abc import Callable

from core.conditions.bus import Bus, BusSource
from core.conditions.idle.x11 import X11, Display
from core.conditions.source import RETRY, NotAvailable


class Mutter(BusSource):
    """GNOME, on X11 and Wayland alike."""

    name = "Mutter"

    def read(self) -> float:
        service = "org.gnome.Mutter.IdleMonitor"
        [milliseconds] = self._bus.call(service, "/org/gnome/Mutter/IdleMonitor/Core", service, "GetIdletime")
        return float(milliseconds) / 1000


class XScreenSaver:
    """The X server's own count. Under Xwayland it only sees input to X programs, so it is not used there."""

    name = "X11"
    retry = RETRY

    def __init__(self, x11: X11) -> None:
        self._x11 = x11

    @property
    def announces(self) -> bool:
        """Whether the server says when input comes."""
        return self._x11.announces_input

    def read(self) -> float:
        if os.environ.get("WAYLAND_DISPLAY"):
            raise NotAvailable("desktop_is_wayland")
        return self._x11.ask(_idle)


def _idle(display: Display) -> float:
    if display.is_xwayland:
        raise NotAvailable("display_is_xwayland")
    idle = display.idle()
    if idle is None:
        raise NotAvailable("idle_not_counted")
    return idle


class ScreenSaver(BusSource):
    """The desktop's screen saver service. After the others: some always say 0, and KDE's counts milliseconds."""

    name = "ScreenSaver service"

    def read(self) -> float:
        service, path = "org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"
        [idle] = self._bus.call(service, path, service, "GetSessionIdleTime")
        is_kde = "KDE" in os.environ.get("XDG_CURRENT_DESKTOP", "").split(":")
        return float(idle) / (1000 if is_kde else 1)


class Logind(BusSource):
    """logind's idle hint for this user's session, which desktops often set only after minutes."""

    name = "logind"
    _SERVICE = "org.freedesktop.login1"

    def __init__(self, system_bus: Bus, clock: Callable[[], float]) -> None:
        super().__init__(system_bus)
        self._clock = clock

    def read(self) -> float:
        session = self._session()
        idle = self._bus.get(self._SERVICE, session, f"{self._SERVICE}.Session", "IdleHint")
        since = self._bus.get(self._SERVICE, session, f"{self._SERVICE}.Session", "IdleSinceHint")
        if not idle and not since:
            raise NotAvailable("idle_never_set")
        return max(self._clock() - since / 1e6, 0.0) if idle else 0.0

    def _session(self) -> str:
        """The graphical session."""
        user = f"{self._SERVICE}.User"
        name, path = self._bus.get(self._SERVICE, "/org/freedesktop/login1/user/self", user, "Display")
        if not name:
            raise NotAvailable("session_missing")
        return str(path)

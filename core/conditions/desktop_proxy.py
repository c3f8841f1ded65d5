"""The proxy of the desktop's settings: GNOME's and others' from the portal for programs, KDE's from its own file."""

import os
import threading
import time
from collections.abc import Iterable
from configparser import ConfigParser, Error
from pathlib import Path
from urllib.parse import urlsplit

from core.api.errors import WorldError
from core.api.proxy import SCHEMES, with_remote_names
from core.conditions.bus import Bus
from core.conditions.source import NotAvailable

_SERVICE, _PATH = "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"
_INTERFACE = "org.freedesktop.portal.ProxyResolver"
_FRESH = 30.0
"""Seconds in which an answer for a server counts."""
_MANUAL = "1"
"""KDE's ProxyType. Its scripts (2, 3) are not run; at 4 the environment has the proxy."""


_BUS = "org.freedesktop.DBus"
_SIGNS = ("XDG_CURRENT_DESKTOP", "DISPLAY", "WAYLAND_DISPLAY")
"""Variables of a program that runs in a desktop."""


class DesktopProxy:
    """Called with a URL: the first proxy that can be used, empty for none. For several threads.

    Raises:
        WorldError: there is a desktop that may want a proxy, but it does not say so now.
    """

    def __init__(self) -> None:
        self._bus = Bus("SESSION", starts=True)
        self._named_one = False
        self._lock = threading.Lock()
        self._answers: dict[str, tuple[float, str]] = {}
        """When, and what, by server."""

    def __call__(self, url: str) -> str:
        parts = urlsplit(url)
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"  # no more of the address leaves this process
        with self._lock:
            at, found = self._answers.get(server, (float("-inf"), ""))
            if time.monotonic() > at + _FRESH:
                found = of_kde(server) if _is_kde() else self._of_portal(server)
                self._named_one |= bool(found)
            return found

    def _of_portal(self, server: str) -> str:
        """Only an answer is remembered: a portal that is not there may come."""
        try:
            [offered] = self._bus.call(_SERVICE, _PATH, _INTERFACE, "Lookup", server)
        except NotAvailable as why:
            if self._named_one or self._may_want_one(why.message.kind):
                raise WorldError("desktop_proxy_silent") from None
            return ""
        found = first_usable(offered)
        self._answers[server] = time.monotonic(), found
        return found

    def _may_want_one(self, failure: str) -> bool:
        if failure == "service_silent":
            return True
        if not any(map(os.environ.get, _SIGNS)):  # a portal that starts only in a desktop
            return False
        return failure == "service_refuses" or (failure == "service_not_running" and self._can_start())

    def _can_start(self) -> bool:
        try:
            [names] = self._bus.call(_BUS, "/org/freedesktop/DBus", _BUS, "ListActivatableNames")
        except NotAvailable:
            return True
        return _SERVICE in names


def first_usable(offered: Iterable[str]) -> str:
    """Of what the portal returned, best first; empty: none, or `direct://` is better. Pure."""
    for url in map(with_remote_names, offered):
        scheme = url.partition("://")[0]
        if scheme == "direct":
            return ""
        if scheme in SCHEMES:
            return url
    return ""


def of_kde(server: str) -> str:
    """What is set by hand in KDE's system settings; empty: nothing, or not for this server."""
    from requests.utils import should_bypass_proxies

    folder = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    settings = ConfigParser(interpolation=None, strict=False)
    try:
        settings.read(Path(folder) / "kioslaverc", encoding="utf-8")
        chosen = settings["Proxy Settings"]
    except (Error, KeyError, OSError, UnicodeDecodeError):
        return ""
    if chosen.get("ProxyType") != _MANUAL or should_bypass_proxies(server, chosen.get("NoProxyFor") or "localhost"):
        return ""
    names = f"{urlsplit(server).scheme}Proxy", "socksProxy"
    # KDE writes "http://proxy.example 3128".
    return first_usable(chosen[name].strip().replace(" ", ":") for name in names if chosen.get(name, "").strip())


def _is_kde() -> bool:
    return "KDE" in os.environ.get("XDG_CURRENT_DESKTOP", "").split(":")

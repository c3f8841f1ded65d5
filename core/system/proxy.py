"""The proxy of this process. It holds for everything that is fetched by HTTP, so that no request can forget it.

It does not apply to connections to peers: they are not HTTP and pass no proxy.
"""

from collections.abc import Callable

from core.api.proxy import Proxy

Desktop = Callable[[str], str]
"""The proxy that the desktop's settings name for a URL; empty: none."""


class _Process:
    def __init__(self) -> None:
        self.proxy = Proxy()
        self.desktop: Desktop = lambda _url: ""
        self.desktop_has_one = False
        """By its latest answer."""


_process = _Process()


def use_desktop(desktop: Desktop) -> None:
    """Ask the desktop where the volunteer wants the system's proxy and the environment names none. May block."""
    _process.desktop = desktop


def of_desktop(url: str) -> str:
    found = _process.desktop(url)
    _process.desktop_has_one = bool(found)
    return found


def use(proxy: Proxy) -> None:
    """From the next request on."""
    _process.proxy = proxy


def in_use() -> Proxy:
    return _process.proxy


def in_environment() -> bool:
    """Whether environment variables name a proxy; the desktop's settings do not count then."""
    from urllib.request import getproxies  # with the packages http and email, for peers that reach nobody alone

    return not getproxies().keys().isdisjoint(("http", "https", "all"))


def no_peers() -> str:
    """The kind of message for a computer that reaches no peer; behind a proxy, that is a likely cause."""
    chosen = _process.proxy.choice
    is_used = chosen == "own" or (chosen == "system" and (in_environment() or _process.desktop_has_one))
    return "no_peers_past_proxy" if is_used else "no_peers"

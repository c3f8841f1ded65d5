"""The proxy of this process. It holds for everything that is fetched by HTTP, so that no request can forget it.

It does not apply to connections to peers: they are not HTTP and pass no proxy.
"""

from urllib.request import getproxies

from core.api.proxy import Proxy


class _Process:
    proxy = Proxy()


def use(proxy: Proxy) -> None:
    """From the next request on."""
    _Process.proxy = proxy


def in_use() -> Proxy:
    return _Process.proxy


def no_peers() -> str:
    """The kind of message for a computer that reaches no peer; behind a proxy, that is a likely cause."""
    chosen = _Process.proxy.choice
    is_used = chosen == "own" or (chosen == "system" and not getproxies().keys().isdisjoint(("http", "https", "all")))
    return "no_peers_past_proxy" if is_used else "no_peers"

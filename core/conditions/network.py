"""Network: whether the internet is reachable, and whether the connection is metered."""

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.api.message import Message
from core.api.sensors import SensorInfo
from core.conditions.bus import Bus, BusSource
from core.conditions.source import Chain, NotAvailable, Source

_CONNECTED = 60
"""NetworkManager's NM_STATE_CONNECTED_SITE; the only one above it is global."""
_METERED: dict[int, bool | None] = {1: True, 2: False, 3: True, 4: False}
"""NMMetered: yes, no, guess yes, guess no. 0 is unknown, and unknown is not metered."""
_ELSEWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses reserved for documentation (RFC 5737, RFC 3849): nothing answers there, but the route is the internet's."""


@dataclass(frozen=True)
class Network:
    online: bool | None = None
    """None: unknown."""
    metered: bool | None = None


class NetworkSensor:
    name = "network"
    every = 5.0

    def __init__(
        self, online: Sequence[Source[bool]], metered: Sequence[Source[bool | None]], tick: Callable[[], float]
    ) -> None:
        self._online = Chain(online, tick)
        self._metered = Chain(metered, tick)
        self._value = Network()

    def read(self) -> Network:
        self._value = Network(self._online.read(), self._metered.read())
        return self._value

    def info(self) -> SensorInfo:
        online, metered = self._value.online, self._value.metered
        text = Message("network", {"reach": _REACH[online], "cost": _COST[metered]})
        if online is metered is None:
            text = Message("network_unknown")
        return SensorInfo(self.name, text, online is not None, self._online.tried + self._metered.tried)


_REACH = {True: Message("online"), False: Message("not_online"), None: Message("reach_unknown")}
_COST = {True: Message("network_metered"), False: Message("network_not_metered"), None: Message("cost_unknown")}


class Route:
    """The system's routing table, queried by connecting a datagram socket, which sends nothing."""

    name = "routes"
    retry = 0.0

    def read(self) -> bool:
        """Raises NotAvailable if there is no route; another source may know more."""
        if not any(_has_route(family, address) for family, address in _ELSEWHERE):
            raise NotAvailable("route_missing")
        return True


class NetworkManagerState(BusSource):
    name = "NetworkManager"
    retry = 0.0

    def read(self) -> bool:
        """Raises NotAvailable."""
        return bool(_network_manager(self._bus, "State") >= _CONNECTED)


class NoRoute:
    """The end of the chain: no route, and no other source."""

    name = "no other way"
    retry = 0.0

    def read(self) -> bool:
        return False


class NetworkManagerMetered(BusSource):
    name = "NetworkManager (metered)"

    def read(self) -> bool | None:
        """Raises NotAvailable."""
        return _METERED.get(_network_manager(self._bus, "Metered"))


def _network_manager(bus: Bus, name: str) -> int:
    service = "org.freedesktop.NetworkManager"
    return int(bus.get(service, "/org/freedesktop/NetworkManager", service, name))


def _has_route(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
    except OSError:
        return False
    return True

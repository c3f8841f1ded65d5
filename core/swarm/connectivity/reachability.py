"""Finds out how others reach a peer before it takes part: others would wait for one that they cannot call."""

import ipaddress
import logging
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from hivemind import DHT
from hivemind.utils.multiaddr import Multiaddr

from core.api.snapshot import Reachability
from core.swarm.connectivity.dial_back import MOST_PORTS, PAUSE, Answer, ask_to_be_called
from core.swarm.connectivity.port_control import PortControl, Version
from core.swarm.dht.peer import LOOPBACK, join_swarm, listen_addresses, multiaddress, port_of

CALLABLE: tuple[Reachability, ...] = ("open_port", "router", "ipv6")

log = logging.getLogger(__name__)

_MAPPING_TIME = 12.0
"""Seconds until a router has mapped a port: the daemon looks for one for ten at most."""
_BUSY_TIME = 30.0
"""Seconds for which a backbone that calls others first is asked again."""
_PERIOD = 0.5
"""Seconds between two looks at the daemon's addresses."""
_CHECK_EVERY = 5.0
"""Seconds between two looks at this computer's addresses …"""
_ASK_EVERY = 600.0
"""… and between two calls by the backbone while they stay the same."""


@dataclass(frozen=True)
class PortSettings:
    """The ports at which a volunteer lets others call."""

    port: int = 0
    """TCP port that is open for it; 0: none."""
    maps_port: bool = False
    """Whether the router is asked to map one."""


def join_reachable(
    initial_peers: Sequence[str], identity: Path, settings: PortSettings, opened: ExitStack
) -> tuple[DHT, Reachability | None]:
    """Join the swarm as a peer that others call, or that only calls others if it has no port or no call arrives.

    What the router lets in is withdrawn when `opened` closes.

    The second value is None where nothing can be known: on loopback, or without an answer from a backbone.

    Raises:
        WorldError: as `join_swarm`.
    """
    listen = listen_addresses(initial_peers, settings.port, maps_port=settings.maps_port)
    if listen in ((), (LOOPBACK,)):
        return join_swarm(initial_peers, identity, listen), None if listen else "outgoing"
    with ExitStack() as tried:
        if settings.maps_port:
            tried.enter_context(_port_control(listen, 6))
        dht = join_swarm(initial_peers, identity, listen, maps_port=settings.maps_port)
        found = find_reachability(dht, initial_peers, settings)
        log.info("others reach this peer: %s", found)
        if found in CALLABLE or (found is None and settings.port):
            opened.push(tried.pop_all())
            return dht, found
    dht.shutdown()
    if settings.maps_port and found is not None and (joined := _join_by_pcp(initial_peers, identity, listen, opened)):
        return joined
    return join_swarm(initial_peers, identity, None), found


def _join_by_pcp(
    initial_peers: Sequence[str], identity: Path, listen: Sequence[str], opened: ExitStack
) -> tuple[DHT, Reachability] | None:
    """Join as a peer that others call by IPv4 through a router that knows neither UPnP nor NAT-PMP. None if it lets no
    call in this way either, or none arrives."""
    port = port_of(listen)
    with ExitStack() as tried:
        control = tried.enter_context(_port_control(listen, 4))
        if not control.granted:
            return None
        outside = {(grant.address, grant.port) for grant in control.granted}
        announced = outside | {(address, port) for address in own_ip_addresses() if _is_of_a_network(address)}
        dht = join_swarm(initial_peers, identity, listen, [multiaddress(*each) for each in announced])
        found = find_reachability(dht, initial_peers, PortSettings(port))
        log.info("others reach this peer by PCP: %s", found)
        if found in CALLABLE:
            opened.push(tried.pop_all())
            return dht, found
    dht.shutdown()
    return None


@contextmanager
def _port_control(listen: Sequence[str], version: Version) -> Iterator[PortControl]:
    with closing(PortControl(port_of(listen), version)) as control:
        control.start()
        yield control


def find_reachability(dht: DHT, backbone: Sequence[str], settings: PortSettings) -> Reachability | None:
    """Let the backbone call, again if the router maps a port meanwhile. Blocks for some seconds.

    Parameters:
        backbone: its multiaddresses.
    """
    begin, asked, answer = time.monotonic(), set[int](), None
    while True:
        known = _visible(dht)
        if ports := {port for _, port in known} - asked:
            asked |= ports
            answer = _call_in(dht, backbone, sorted(ports)) or answer
        elif not settings.maps_port or time.monotonic() > begin + _MAPPING_TIME:
            break
        else:
            time.sleep(_PERIOD)
        if answer is not None and answer.reached:
            break
    return reachability(answer, settings, {address for address, _ in known}, own_ip_addresses())


def reachability(
    answer: Answer | None, settings: PortSettings, known: Collection[str], own: Collection[str]
) -> Reachability | None:
    """What the backbone's answer means. Pure.

    Parameters:
        known: IP addresses under which the daemon believes to be known, with the one that a router has mapped.
        own: those of this computer.
    """
    if answer is None or answer.reached is None:
        return None
    is_own, mapped = answer.address in own, {address for address in set(known) - set(own) if ":" not in address}
    if answer.reached:
        if ":" in answer.address:
            return "ipv6"
        return "open_port" if is_own else "router"
    if not is_own and mapped - {answer.address}:
        # The router is not the one whose address others see.
        return "second_router"
    return "blocked" if settings.port or mapped else "no_mapping"


def own_ip_addresses() -> set[str]:
    """Those of this computer's interfaces."""
    families = (socket.AF_INET, socket.AF_INET6)
    interfaces = psutil.net_if_addrs().values()
    return {one.address.partition("%")[0] for found in interfaces for one in found if one.family in families}


def _is_of_a_network(address: str) -> bool:
    """Whether it is known beyond this computer and its cable."""
    own = ipaddress.ip_address(address)
    return not own.is_loopback and not own.is_link_local


class ReachabilityMonitor(threading.Thread):
    """Asks again now and then, and as soon as this computer's addresses change. Begin it with `start`.

    `value` is what was found last.
    """

    def __init__(self, dht: DHT, backbone: Sequence[str], settings: PortSettings, value: Reachability | None) -> None:
        super().__init__(name="reachability monitor", daemon=True)
        self._dht, self._backbone, self._settings = dht, backbone, settings
        self.value = value
        self._stopped = threading.Event()

    def run(self) -> None:
        if self._dht.client_mode or self.value is None:
            return
        asked, own = time.monotonic(), own_ip_addresses()
        while not self._stopped.wait(_CHECK_EVERY):
            now = own_ip_addresses()
            is_due = now != own or time.monotonic() > asked + _ASK_EVERY
            if is_due and (found := self._check_again()) is not None:
                self.value, asked, own = found, time.monotonic(), now

    def stop(self) -> None:
        self._stopped.set()

    def _check_again(self) -> Reachability | None:
        found = find_reachability(self._dht, self._backbone, self._settings)
        if found is None or found in CALLABLE or self._stopped.wait(_CHECK_EVERY):
            return found
        # Ask twice: the session ends if it has lost its port, and a new one takes its place.
        return find_reachability(self._dht, self._backbone, self._settings)


def _call_in(dht: DHT, backbone: Sequence[str], ports: Sequence[int]) -> Answer | None:
    """The backbone's answer; if it has called by IPv6 in vain, the one by IPv4."""
    answer = _patiently(partial(ask_to_be_called, dht, backbone, ports[:MOST_PORTS]))
    if answer is None or answer.reached or ":" not in answer.address:
        return answer
    return _patiently(partial(ask_to_be_called, dht, backbone, ports[:MOST_PORTS], by_ipv4=True)) or answer


def _patiently(ask: Callable[[], Answer | None]) -> Answer | None:
    """What the backbone answers once it has time."""
    give_up = time.monotonic() + _BUSY_TIME
    while True:
        answer = ask()
        if answer is None or answer.reached is not None or time.monotonic() > give_up:
            return answer
        time.sleep(PAUSE)


def _visible(dht: DHT) -> set[tuple[str, int]]:
    """IP address and TCP port of each address that the daemon tells others, but loopback."""
    found = set()
    for address in map(Multiaddr, map(str, dht.get_visible_maddrs(latest=True))):
        version = next((name for name in ("ip4", "ip6") if name in address), None)
        if version and "tcp" in address and not address[version].startswith(("127.", "::1")):
            found.add((address[version], int(address["tcp"])))
    return found

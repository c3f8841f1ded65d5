"""How many peers may be connected to this one: keys cost nothing, and connections do.

The daemon has a limit of its own, but then closes connections at least two minutes old, of whom it likes: those of a
run's members in favour of whoever floods it. So it never comes to that. Of one address, who came last is sent away; of
all, who came last of the network that has most, so that who has few networks cannot hold all places.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Mapping
from ipaddress import ip_network

from hivemind.p2p import P2P, PeerID

from core.swarm.dht.addresses import origin_of

log = logging.getLogger(__name__)

PER_ADDRESS = 64
"""Peers of one IP address, or of one IPv6 network of 64 bits: a laboratory has no more."""
IN_ALL = 1024
"""Who keeps a record that all report to is connected to all peers of a run."""
IN_ALL_AT_BACKBONE = 4096
"""Every peer of the run begins there."""
DAEMON_LIMITS = {"connLo": 6144, "connHi": 8192}
"""Of the daemon itself: what is kept, and what must never be reached between two looks."""
_EVERY = 2.0
"""Seconds between two looks."""
_MOST_KNOWN = 4096
_THIS_COMPUTER = ("127.0.0.1", "::")


class ConnectionLimits:
    """Remembers who came first. `own` are peers that this one has called itself, and keeps."""

    def __init__(self, in_all: int = IN_ALL, own: Collection[PeerID] = ()) -> None:
        self._in_all, self._own = in_all, frozenset(own)
        self._known: dict[PeerID, None] = {}
        """In the order in which they came."""

    def too_many(self, connected: Mapping[PeerID, str]) -> list[PeerID]:
        """Who is to be disconnected, of the connected peers with their addresses."""
        self._known |= dict.fromkeys(connected)
        taken, staying, excess = Counter[str](), list[PeerID](), list[PeerID]()
        for peer in [peer for peer in self._known if peer in connected and peer not in self._own]:
            address = connected[peer]
            taken[address] += 1
            is_full = address not in _THIS_COMPUTER and taken[address] > PER_ADDRESS
            (excess if is_full else staying).append(peer)
        self._forget_last(connected)
        if len(staying) > self._in_all:
            excess += _in_turn(staying, connected)[self._in_all :]
        return excess

    def _forget_last(self, connected: Mapping[PeerID, str]) -> None:
        """New keys do not make those forgotten that were there before."""
        absent = [peer for peer in self._known if peer not in connected]
        for peer in absent[_MOST_KNOWN:]:
            del self._known[peer]


def _in_turn(peers: list[PeerID], connected: Mapping[PeerID, str]) -> list[PeerID]:
    """The first of each network, then the second of each, and so on. `peers` are in the order in which they came."""
    before, turns = Counter[str](), dict[PeerID, int]()
    for peer in peers:
        address = connected[peer]
        # A provider easily gives a single customer 48 bits.
        network = str(ip_network((address, 48), strict=False)) if ":" in address else address
        turns[peer] = 0 if address in _THIS_COMPUTER else before[network]
        before[network] += 1
    return sorted(peers, key=lambda peer: turns[peer])


async def limit_connections(p2p: P2P, in_all: int, own: Collection[PeerID]) -> None:
    """Until it is cancelled."""
    limits = ConnectionLimits(in_all, own)
    while True:
        await asyncio.sleep(_EVERY)
        try:
            connected = {info.peer_id: origin_of(info.addrs) for info in await p2p.list_peers()}
            excess = limits.too_many(connected)
        except Exception as error:  # noqa: BLE001 - whatever a daemon says that is busy or ends
            log.warning("connections were not counted: %r", error)
            continue
        for peer in excess:
            await _disconnect(p2p, peer, connected[peer])


async def _disconnect(p2p: P2P, peer: PeerID, address: str) -> None:
    log.info("%s at %s is disconnected: too many are connected", peer, address)
    try:
        await p2p._client.disconnect(peer)
    except Exception as error:  # noqa: BLE001 - as above; the others are disconnected all the same
        log.info("%s was not disconnected: %r", peer, error)

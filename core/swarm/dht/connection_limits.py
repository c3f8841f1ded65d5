"""How many peers may be connected to this one: keys cost nothing, and connections do.

The daemon has a limit of its own, but then closes connections at least two minutes old, of whom it likes: those of a
run's members in favour of whoever floods it. So it never comes to that: who is connected for the longest time stays,
and who came last is sent away.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress

from hivemind.p2p import P2P, P2PDaemonError, PeerID

from core.swarm.dht.addresses import origin_of

log = logging.getLogger(__name__)

PER_ADDRESS = 64
"""Peers of one IP address, or of one IPv6 network of 64 bits: a laboratory has no more."""
IN_ALL = 384
DAEMON_LIMITS = {"connLo": 1024, "connHi": 2048}
"""Of the daemon itself: what is kept, and what must never be reached between two looks."""
_EVERY = 2.0
"""Seconds between two looks."""
_MOST_KNOWN = 4096
_THIS_COMPUTER = ("127.0.0.1", "::")


class ConnectionLimits:
    """Remembers who came first."""

    def __init__(self) -> None:
        self._known: dict[PeerID, None] = {}
        """In the order in which they came."""

    def too_many(self, connected: Mapping[PeerID, str]) -> list[PeerID]:
        """Who is to be disconnected, of the connected peers with their addresses."""
        self._known |= dict.fromkeys(connected)
        taken, excess = Counter[str](), list[PeerID]()
        for peer in [peer for peer in self._known if peer in connected]:
            address = connected[peer]
            is_full = address not in _THIS_COMPUTER and taken[address] >= PER_ADDRESS
            if is_full or taken.total() >= IN_ALL:
                excess.append(peer)
            else:
                taken[address] += 1
        self._forget_last(connected)
        return excess

    def _forget_last(self, connected: Mapping[PeerID, str]) -> None:
        """New keys do not make those forgotten that were there before."""
        absent = [peer for peer in self._known if peer not in connected]
        for peer in absent[_MOST_KNOWN:]:
            del self._known[peer]


async def limit_connections(p2p: P2P) -> None:
    """For as long as the daemon lives."""
    limits = ConnectionLimits()
    with suppress(P2PDaemonError, OSError):
        while True:
            await asyncio.sleep(_EVERY)
            connected = {info.peer_id: origin_of(info.addrs) for info in await p2p.list_peers()}
            for peer in limits.too_many(connected):
                log.info("%s at %s is disconnected: too many are connected", peer, connected[peer])
                with suppress(P2PDaemonError):
                    await p2p._client.disconnect(peer)

"""Where other peers are: keys cost nothing, so what is given to strangers is counted by IP address, too."""

import time
from collections.abc import Iterable
from ipaddress import IPv6Address

from hivemind.p2p import P2P, PeerID
from hivemind.utils.multiaddr import Multiaddr

_LASTS = 60.0
_UNKNOWN_LASTS = 1.0
"""Seconds until the daemon is asked again, and until it is asked again about a peer that it did not know."""
UNKNOWN = ""


class PeerAddresses:
    """As the daemon knows them from its connections."""

    def __init__(self) -> None:
        self._known: dict[PeerID, str] = {}
        self._read_at: float | None = None

    async def of(self, p2p: P2P, peer: PeerID) -> str:
        """The address of a connected peer, or the network of an IPv6 one; `UNKNOWN` if there is no connection."""
        lasts = _LASTS if peer in self._known else _UNKNOWN_LASTS
        if self._read_at is None or time.monotonic() >= self._read_at + lasts:
            self._read_at = time.monotonic()
            self._known = {info.peer_id: origin_of(info.addrs) for info in await p2p.list_peers()}
        return self._known.get(peer, UNKNOWN)


def origin_of(addresses: Iterable[Multiaddr]) -> str:
    """What one household has: an IPv4 address, or the first 64 bits of an IPv6 one, in which it chooses the rest."""
    for address in addresses:
        _, version, ip, *_ = [*str(address).split("/"), "", ""]
        if version == "ip4":
            return ip
        if version == "ip6":
            whole = IPv6Address(ip)
            return str(whole.ipv4_mapped or IPv6Address(int(whole) >> 64 << 64))
    return UNKNOWN


def peer_id_of(address: str) -> PeerID:
    """The peer named at the end of a multiaddress."""
    return PeerID.from_base58(address.rsplit("/p2p/", 1)[1])

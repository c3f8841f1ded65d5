"""libp2p multiaddresses of peers, in manifests and on command lines."""

import ipaddress
import re

_PEER_ADDRESS = re.compile(
    r"/(?P<kind>ip4|ip6|dns|dns4|dns6)/(?P<host>[A-Za-z0-9.:_-]{1,253})/(?:tcp|udp)/(?P<port>[0-9]{1,5})"
    r"(?:/quic|/quic-v1|/ws|/wss)?(?:/p2p/[1-9A-HJ-NP-Za-km-z]{42,64}/p2p-circuit)?/p2p/[1-9A-HJ-NP-Za-km-z]{42,64}"
)


def is_far(address: str) -> bool:
    """Whether the peer is on the internet: its address is neither loopback nor private."""
    match = _PEER_ADDRESS.fullmatch(address)
    if match is None or match["kind"].startswith("dns"):
        return match is None or match["host"] != "localhost"
    return not ipaddress.ip_address(match["host"]).is_private


def host_of(address: str) -> str:
    """The IP address or name in a peer's multiaddress; empty if it is none."""
    match = _PEER_ADDRESS.fullmatch(address)
    return match["host"].lower() if match else ""


def is_peer_address(address: str) -> bool:
    """Whether `address` is a libp2p multiaddress that ends in a peer id, perhaps behind a relay."""
    match = _PEER_ADDRESS.fullmatch(address)
    if not match or not 1 <= int(match["port"]) <= 65535:
        return False
    try:
        return match["kind"].startswith("dns") or f"ip{ipaddress.ip_address(match['host']).version}" == match["kind"]
    except ValueError:
        return False

"""Which addresses may be contacted for a project: the internet's, and private ones only if they are its own."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from core.api.project.peer_address import host_of

_LOCAL_NAME = re.compile(r"[^.]+|.+\.(local|localhost|internal|lan|home\.arpa)", re.IGNORECASE)
"""Names that nobody can register, so that no stranger's name server answers for them."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class Reach:
    """Every server with a public address, and the hosts named here at whatever address."""

    own: frozenset[str] = frozenset()

    def allows(self, host: str, address: str) -> bool:
        """Whether `host` may be contacted at `address`, to which its name leads now."""
        return host.lower() in self.own or is_public(address)


def reach_of(origin: str | None, initial_peers: Sequence[str]) -> Reach:
    """For what a manifest names.

    Parameters:
        origin: URL that the manifest was read from. A public name gives no access to private addresses: its owner
            decides each time where it leads (DNS rebinding).
        initial_peers: the organiser's addresses, which count if the manifest is a file that the volunteer has.
    """
    if origin is None:
        return Reach(frozenset(host_of(address) for address in initial_peers))
    host = host_in(origin)
    return Reach(frozenset({host}) if is_nearby(host) else frozenset())


def is_nearby(host: str) -> bool:
    """Whether the host, as it is written, can only be this computer or one of its network."""
    return not is_public(host) if literal(host) else _LOCAL_NAME.fullmatch(host) is not None


def is_public(address: str) -> bool:
    """Whether this IP address belongs to the internet: not to this computer, a private network or a group."""
    found = literal(address)
    if isinstance(found, ipaddress.IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        found = inner or (ipaddress.IPv4Address(int(found) & 0xFFFF_FFFF) if found in _NAT64 else found)
    return found is not None and found.is_global and not found.is_multicast


def literal(host: str) -> Address | None:
    """The IP address that `host` spells; None for a name."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def host_in(url: str) -> str:
    """The host of a URL in lower case; empty if there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


def origin_of(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port, with the port that the scheme implies."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or {"http": 80, "https": 443}.get(parts.scheme)

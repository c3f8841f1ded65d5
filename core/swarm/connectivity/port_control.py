"""Asks the router to let calls in, by PCP (Port Control Protocol, RFC 6887).

By IPv6 a computer has an address of its own, but most home routers let nobody call it; and where a provider shares its
IPv4 addresses among customers, IPv6 is the only way in. For IPv4 the daemon asks the router by UPnP and NAT-PMP; this
is for routers that know neither.
"""

import ipaddress
import logging
import os
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psutil

log = logging.getLogger(__name__)

Version = Literal[4, 6]

LEASE = 120
"""Seconds for which the router is asked to let calls in: the least that RFC 6887 recommends to grant."""
_SHORTEST_LEASE = 20
"""That is believed."""
_TIMEOUTS = (0.25, 0.5, 1.0)
"""Seconds for an answer from the router next door, after which it is asked again, and then given up."""
_MOST_ADDRESSES = 4
_PUBLIC = ipaddress.ip_network("2000::/3")
"""Global unicast addresses (RFC 4291)."""
_ROUTES: dict[Version, Path] = {4: Path("/proc/net/route"), 6: Path("/proc/net/ipv6_route")}
_FAMILIES: dict[Version, socket.AddressFamily] = {4: socket.AF_INET, 6: socket.AF_INET6}

_SERVER_PORT, _VERSION, _MAP, _ANSWER, _SUCCESS, _TCP = 5351, 2, 1, 0x80, 0, 6
_REQUEST_HEADER = struct.Struct("!BB2xI16s")
_ANSWER_HEADER = struct.Struct("!BBxBII12x")
_MAPPING = struct.Struct("!12sB3xHH16s")


@dataclass(frozen=True)
class Grant:
    """What the router lets in."""

    seconds: int
    address: str
    port: int
    """Outside, where others call."""


def request(nonce: bytes, address: str, port: int, seconds: int) -> bytes:
    """For calls to this TCP port of this computer; 0 seconds ends it."""
    own = _packed(address)
    # The same address outside; by IPv4, where there is a translation, any.
    outside = own if ":" in address else _packed("0.0.0.0")
    return _REQUEST_HEADER.pack(_VERSION, _MAP, seconds, own) + _MAPPING.pack(nonce, _TCP, port, port, outside)


def granted(data: bytes, nonce: bytes, port: int) -> Grant | None:
    """What the router's answer grants; None if it refuses, or does not answer this request."""
    if len(data) < _ANSWER_HEADER.size + _MAPPING.size:
        return None
    version, operation, result, seconds, _epoch = _ANSWER_HEADER.unpack_from(data)
    its_nonce, protocol, inside, outside, address = _MAPPING.unpack_from(data, _ANSWER_HEADER.size)
    is_answer = (version, operation) == (_VERSION, _ANSWER | _MAP) and (protocol, inside) == (_TCP, port)
    if not is_answer or its_nonce != nonce or result != _SUCCESS:
        return None
    its_address = ipaddress.IPv6Address(address)
    return Grant(int(seconds), str(its_address.ipv4_mapped or its_address), int(outside))


def gateways(routes: str) -> Iterator[tuple[str, str]]:
    """Address and interface of each default router in Linux's table of IPv6 routes."""
    for line in routes.splitlines():
        target, length, _source, _length, router, *_, interface = line.split()
        if not int(target, 16) and not int(length, 16) and int(router, 16):
            yield str(ipaddress.IPv6Address(int(router, 16))), interface


def gateways_by_ipv4(routes: str) -> Iterator[tuple[str, str]]:
    """The same in the table of IPv4 routes, whose addresses are in the processor's byte order."""
    for line in routes.splitlines()[1:]:
        interface, target, router, _flags, _references, _uses, _metric, mask, *_ = line.split()
        if not int(target, 16) and not int(mask, 16) and int(router, 16):
            yield str(ipaddress.IPv4Address(struct.pack("=I", int(router, 16)))), interface


@dataclass(frozen=True)
class _Mapping:
    router: str
    interface: str
    address: str
    port: int
    nonce: bytes = field(default_factory=lambda: os.urandom(12))
    """The router lets only who knows it renew or end this."""

    def ask(self, seconds: int) -> Grant | None:
        """What the router grants; None if it does not."""
        try:
            with socket.socket(_FAMILIES[6 if ":" in self.address else 4], socket.SOCK_DGRAM) as sender:
                sender.bind((self.address, 0))
                sender.connect(self._server)
                for timeout in _TIMEOUTS:
                    sender.settimeout(timeout)
                    sender.send(request(self.nonce, self.address, self.port, seconds))
                    try:
                        return granted(sender.recv(2048), self.nonce, self.port)
                    except TimeoutError:
                        continue
        except OSError as error:
            log.info("the router does not speak PCP: %r", error)
        return None

    @property
    def _server(self) -> tuple[str, int] | tuple[str, int, int, int]:
        if ":" not in self.router:
            return self.router, _SERVER_PORT
        return self.router, _SERVER_PORT, 0, socket.if_nametoindex(self.interface)


class PortControl(threading.Thread):
    """Lets calls to one port in until closed: at each public IPv6 address of this computer, or by IPv4 at the router's
    address. Begin it with `start`."""

    def __init__(self, port: int, version: Version) -> None:
        super().__init__(name=f"port control by IPv{version}", daemon=True)
        self._port, self._version = port, version
        self._open: dict[str, _Mapping] = {}
        self.granted: list[Grant] = []
        """For now."""
        self._stopped = threading.Event()

    def start(self) -> None:
        """Ask for it, which takes up to two seconds, and renew it from then on."""
        self._renew()
        super().start()

    def run(self) -> None:
        while not self._stopped.wait(self._lease / 2):
            self._renew()
        for mapping in self._open.values():
            if mapping.ask(0) is None:
                break

    def close(self) -> None:
        """Let nobody in any more."""
        self._stopped.set()
        self.join()

    @property
    def _lease(self) -> int:
        return max(_SHORTEST_LEASE, min((grant.seconds for grant in self.granted), default=LEASE))

    def _renew(self) -> None:
        leases = []
        before, self._open = self._open, {}
        for possible in _mappings(self._port, self._version):
            mapping = before.get(possible.address, possible)
            grant = mapping.ask(LEASE)
            if grant is None or not grant.seconds:
                # It would say the same of the other addresses, or nothing.
                break
            self._open[mapping.address] = mapping
            leases.append(grant)
        self.granted = leases


def _mappings(port: int, version: Version) -> list[_Mapping]:
    """Those that could be. Other systems than Linux do not tell the router's address in a file: none there."""
    routes, own = _ROUTES[version], psutil.net_if_addrs()
    found = list[_Mapping]()
    routers = gateways if version == 6 else gateways_by_ipv4
    for router, interface in routers(routes.read_text() if routes.exists() else ""):
        addresses = [each.address for each in own.get(interface, ()) if each.family == _FAMILIES[version]]
        if version == 6:
            addresses = [each for each in addresses if ipaddress.ip_address(each.partition("%")[0]) in _PUBLIC]
        found += [_Mapping(router, interface, address, port) for address in addresses]
    return found[: _MOST_ADDRESSES if version == 6 else 1]


def _packed(address: str) -> bytes:
    """As PCP has it: an IPv4 address is one of IPv6, too."""
    return ipaddress.IPv6Address(address if ":" in address else f"::ffff:{address}").packed

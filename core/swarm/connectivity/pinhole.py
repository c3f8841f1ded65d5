"""Lets calls in by IPv6 where the router's firewall drops them: by PCP (Port Control Protocol, RFC 6887).

By IPv6 a computer has an address of its own, but most home routers let nobody call it. The daemon opens ports for IPv4
alone, by UPnP and NAT-PMP; and where a provider shares its IPv4 addresses among customers, IPv6 is the only way in.
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

import psutil

log = logging.getLogger(__name__)

LEASE = 120
"""Seconds for which the router is asked to let calls in: the least that RFC 6887 recommends to grant."""
_SHORTEST_LEASE = 20
"""That is believed."""
_PATIENCE = (0.25, 0.5, 1.0)
"""Seconds for an answer from the router next door, after which it is asked again, and then given up."""
_MOST_ADDRESSES = 4
_PUBLIC = ipaddress.ip_network("2000::/3")
"""Global unicast addresses (RFC 4291)."""
_ROUTES = Path("/proc/net/ipv6_route")

_SERVER_PORT, _VERSION, _MAP, _ANSWER, _SUCCESS, _TCP = 5351, 2, 1, 0x80, 0, 6
_REQUEST_HEADER = struct.Struct("!BB2xI16s")
_ANSWER_HEADER = struct.Struct("!BBxBII12x")
_MAPPING = struct.Struct("!12sB3xHH16s")


def request(nonce: bytes, address: str, port: int, seconds: int) -> bytes:
    """For calls to this TCP port of this computer; 0 seconds ends it."""
    own = ipaddress.IPv6Address(address).packed
    return _REQUEST_HEADER.pack(_VERSION, _MAP, seconds, own) + _MAPPING.pack(nonce, _TCP, port, port, own)


def granted(data: bytes, nonce: bytes, port: int) -> int | None:
    """Seconds that the router's answer grants; None if it refuses, or does not answer this request."""
    if len(data) < _ANSWER_HEADER.size + _MAPPING.size:
        return None
    version, operation, result, seconds, _epoch = _ANSWER_HEADER.unpack_from(data)
    its_nonce, protocol, inside, *_ = _MAPPING.unpack_from(data, _ANSWER_HEADER.size)
    is_answer = (version, operation) == (_VERSION, _ANSWER | _MAP) and (protocol, inside) == (_TCP, port)
    return int(seconds) if is_answer and its_nonce == nonce and result == _SUCCESS else None


def gateways(routes: str) -> Iterator[tuple[str, str]]:
    """Address and interface of each default router in Linux's table of IPv6 routes."""
    for line in routes.splitlines():
        target, length, _source, _length, router, *_, interface = line.split()
        if not int(target, 16) and not int(length, 16) and int(router, 16):
            yield str(ipaddress.IPv6Address(int(router, 16))), interface


@dataclass(frozen=True)
class _Pinhole:
    router: str
    interface: str
    address: str
    port: int
    nonce: bytes = field(default_factory=lambda: os.urandom(12))
    """The router lets only who knows it renew or end this."""

    def ask(self, seconds: int) -> int | None:
        """The seconds that the router grants; None if it does not."""
        try:
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:
                sender.bind((self.address, 0))
                sender.connect((self.router, _SERVER_PORT, 0, socket.if_nametoindex(self.interface)))
                for patience in _PATIENCE:
                    sender.settimeout(patience)
                    sender.send(request(self.nonce, self.address, self.port, seconds))
                    try:
                        return granted(sender.recv(2048), self.nonce, self.port)
                    except TimeoutError:
                        continue
        except OSError as error:
            log.info("the router does not speak PCP: %r", error)
        return None


class Pinholes(threading.Thread):
    """For calls to one port at each public IPv6 address of this computer, until closed. Begin it with `start`."""

    def __init__(self, port: int) -> None:
        super().__init__(name="pinholes", daemon=True)
        self._port = port
        self._open: dict[str, _Pinhole] = {}
        self._lease = float(LEASE)
        self._stopped = threading.Event()

    def start(self) -> None:
        """Ask for them, which takes up to two seconds, and renew them from then on."""
        self._renew()
        super().start()

    def run(self) -> None:
        while not self._stopped.wait(self._lease / 2):
            self._renew()
        for pinhole in self._open.values():
            if pinhole.ask(0) is None:
                break

    def close(self) -> None:
        """Let nobody in any more."""
        self._stopped.set()
        self.join()

    def _renew(self) -> None:
        leases = []
        before, self._open = self._open, {}
        for possible in _pinholes(self._port):
            hole = before.get(possible.address, possible)
            if not (lease := hole.ask(LEASE)):
                # It would say the same of the other addresses, or nothing.
                break
            self._open[hole.address] = hole
            leases.append(lease)
        self._lease = max(_SHORTEST_LEASE, min(leases, default=LEASE))


def _pinholes(port: int) -> list[_Pinhole]:
    """Those that could be. Other systems than Linux do not tell the router's address in a file: none there."""
    found, own = list[_Pinhole](), psutil.net_if_addrs()
    for router, interface in gateways(_ROUTES.read_text() if _ROUTES.exists() else ""):
        addresses = [each.address for each in own.get(interface, ()) if each.family == socket.AF_INET6]
        public = [address for address in addresses if ipaddress.ip_address(address.partition("%")[0]) in _PUBLIC]
        found += [_Pinhole(router, interface, address, port) for address in public]
    return found[:_MOST_ADDRESSES]

"""What the kernel has counted on TCP connections: every byte and packet, as the wire carries them.

Messages say little about the wire: a lookup of 30 bytes makes packets of several hundred with all headers and
acknowledgements, and the daemon talks to others by itself. Linux counts it for each socket (`struct tcp_info`,
linux/tcp.h), also for those of another process, and reports it to every process (sock_diag(7)). Elsewhere
nothing similar exists: `connections` then finds none.
"""

import os
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_INFO_SIZE = 216
"""Bytes of `struct tcp_info` up to `tcpi_bytes_retrans`: since Linux 4.19."""
_OPTIONS, _TIMESTAMPS = 5, 1
_IN_FLIGHT, _ROUND_TRIP, _LEAST_ROUND_TRIP = 24, 68, 148
"""Offsets in it of u32; times are in microseconds."""
_BYTES_ACKED, _BYTES_RECEIVED, _SEGMENTS, _BUSY_TIMES, _BYTES_SENT = 120, 128, 136, 168, 200
"""And of u64, u64; u32 sent, u32 received; u64 busy and u64 waiting for the receiver, in microseconds; u64 with what
was sent again."""

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP = 4, 20, 0x301
_DONE, _ERROR = 3, 2
_INET_DIAG_INFO = 2
_CONNECTED = sum(1 << state for state in (1, 2, 4, 5, 8, 9, 11))
"""States of a TCP socket (net/tcp_states.h) that have counters: not closed, listening, TIME_WAIT and so on."""
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI48x")
_MESSAGE = struct.Struct("=4B48s5I")
"""`struct inet_diag_msg`: family and so on, addresses, and five numbers the last of which is the inode."""
_ATTRIBUTE = struct.Struct("=HH")
_COOKIE = slice(40, 48)
"""In the addresses."""
_SO_COOKIE = 57
_BUFFER = 1 << 17


@dataclass(frozen=True)
class Carried:
    """Bytes at the network interface, with all headers, since the connection began."""

    up: int = 0
    down: int = 0

    def __add__(self, other: "Carried") -> "Carried":
        return Carried(self.up + other.up, self.down + other.down)

    def __sub__(self, other: "Carried") -> "Carried":
        return Carried(self.up - other.up, self.down - other.down)


@dataclass(frozen=True)
class Connection:
    """What the kernel knows of one."""

    carried: Carried
    payload: int
    """Bytes sent, without headers."""
    busy: float
    """Seconds in which something that was sent had not arrived yet, and the receiver had room for more: one that does
    not read, because its computer is busy, says nothing of a line."""
    in_flight: int
    """Packets of which that is so now."""
    received: int = 0
    """Bytes, without headers."""
    delivered: int = 0
    """Bytes that are known to have arrived, with all headers; `carried` has also what is on the way, or was lost there
    and sent again."""
    queued: float = 0.0
    """Seconds that a packet and its acknowledgement take beyond the least they took."""


def connections(process: int) -> dict[bytes, Connection]:
    """The TCP connections of a process; empty where the kernel does not report them."""
    return dict(_connections_of(_inodes(process)))


def carried_by(connection: socket.socket) -> Carried | None:
    """What a connection of this process has carried; None where the kernel does not report it."""
    if sys.platform != "linux":
        return None
    parsed = _parsed(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_SIZE), connection.family)
    return None if parsed is None else parsed.carried


def cookie_of(connection: socket.socket) -> int:
    """The number that only this connection ever has."""
    return int.from_bytes(connection.getsockopt(socket.SOL_SOCKET, _SO_COOKIE, 8), sys.byteorder)


def _parsed(info: bytes, family: int) -> Connection | None:
    if len(info) < _INFO_SIZE:
        return None
    # Of Ethernet, IP and TCP; the options of a packet are its timestamps, and seldom more.
    header = 14 + (40 if family == socket.AF_INET6 else 20) + 20 + (12 if info[_OPTIONS] & _TIMESTAMPS else 0)
    (in_flight,) = struct.unpack_from("=I", info, _IN_FLIGHT)
    (round_trip,) = struct.unpack_from("=I", info, _ROUND_TRIP)
    (least,) = struct.unpack_from("=I", info, _LEAST_ROUND_TRIP)
    (acked,) = struct.unpack_from("=Q", info, _BYTES_ACKED)
    (received,) = struct.unpack_from("=Q", info, _BYTES_RECEIVED)
    packets_sent, packets_received = struct.unpack_from("=II", info, _SEGMENTS)
    busy, without_room = struct.unpack_from("=QQ", info, _BUSY_TIMES)
    (sent,) = struct.unpack_from("=Q", info, _BYTES_SENT)
    carried = Carried(sent + packets_sent * header, received + packets_received * header)
    return Connection(
        carried,
        sent,
        (busy - without_room) / 1e6,
        in_flight,
        received,
        acked + packets_sent * header,
        max(0, round_trip - least) / 1e6,
    )


def _inodes(process: int) -> set[int]:
    """Of the sockets that a process has open."""
    found = set[int]()
    with suppress(OSError):
        # Not Path, which is slower: this is read up to five times a second.
        for descriptor in os.scandir(f"/proc/{process}/fd"):
            with suppress(OSError):
                target = os.readlink(descriptor.path)  # noqa: PTH115
                if target.startswith("socket:["):
                    found.add(int(target[8:-1]))
    return found


def _connections_of(inodes: set[int]) -> Iterator[tuple[bytes, Connection]]:
    """The cookie of each of these TCP connections, and what the kernel counts for it. It lists all connections of this
    network namespace, also a browser's hundreds."""
    if sys.platform != "linux":
        return
    with suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        for family in (socket.AF_INET, socket.AF_INET6):
            ask = _REQUEST.pack(family, socket.IPPROTO_TCP, 1 << _INET_DIAG_INFO - 1, 0, _CONNECTED)
            kernel.send(_HEADER.pack(_HEADER.size + len(ask), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0) + ask)
            for message in _messages(kernel):
                *_, addresses, _, _, _, _, inode = _MESSAGE.unpack_from(message)
                if inode in inodes and (connection := _parsed(_info_of(message), family)) is not None:
                    yield addresses[_COOKIE], connection


def _messages(kernel: socket.socket) -> Iterator[bytes]:
    """Until the kernel says that these were all."""
    while True:
        data = kernel.recv(_BUFFER)
        while data:
            length, kind = _HEADER.unpack_from(data)[:2]
            if kind in (_DONE, _ERROR):
                return
            yield data[_HEADER.size : length]
            data = data[_aligned(length) :]


def _info_of(message: bytes) -> bytes:
    attributes = message[_MESSAGE.size :]
    while len(attributes) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(attributes)
        if kind == _INET_DIAG_INFO:
            return attributes[_ATTRIBUTE.size : length]
        attributes = attributes[_aligned(length) :]
    return b""


def _aligned(length: int) -> int:
    return (length + 3) & ~3

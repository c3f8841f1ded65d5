"""How bytes go between this program and hivemind's daemon: in small pieces, each of which waits for its turn.

What waits here on the way out is not yet in the daemon's queue, where it would hold up everything behind it. What is
not read fills the daemon's buffers, and then flow control stops the peer that sends it.
"""

import asyncio
from typing import Any

from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings.utils import read_pbmsg_safe, write_pbmsg

from core.swarm.traffic.meter import OVERHEAD, Line, current_kind
from core.swarm.traffic.rate_negotiation import RateNegotiation

_PIECE = 1 << 16
_SMALLEST_PIECE = 1 << 10
_PIECE_LASTS = 0.05
"""Seconds of the ceiling in one piece: so finely the line is shared among streams."""
_LARGEST_MESSAGE = 1 << 26
"""Bytes; the largest part of tensors that hivemind sends is a hundredth of it. The length is a stranger's word."""
_CALLS = ("callUnary", "unaryResponse", "callUnaryResponse", "requestHandling")
"""Messages to and from the daemon that go over the network; the others are between it and us."""


class ThrottledStreams:
    """In place of hivemind's functions of the same purpose, which neither wait nor count."""

    def __init__(self, line: Line, rate_negotiation: RateNegotiation) -> None:
        self._line = line
        self._rate_negotiation = rate_negotiation

    async def send(self, data: bytes, writer: asyncio.StreamWriter, **_options: Any) -> None:
        """As `P2P.send_raw_data`: the length, then the bytes."""
        header = len(data).to_bytes(P2P.HEADER_LEN, P2P.BYTEORDER)
        rest = memoryview(header + data)
        while rest:
            piece = rest[: piece_size(self._line.up.rate, self._rate_negotiation.rate_for(writer))]
            await self._rate_negotiation.wait_for(writer, on_the_wire(len(piece)))
            await self._line.up.pass_through(on_the_wire(len(piece)))
            self._line.meter.add_uploaded(on_the_wire(len(piece)), current_kind.get())
            writer.write(piece)
            await writer.drain()
            rest = rest[len(piece) :]

    async def receive(self, reader: asyncio.StreamReader) -> bytes:
        """As `P2P.receive_raw_data`."""
        header = await reader.readexactly(P2P.HEADER_LEN)
        length = int.from_bytes(header, P2P.BYTEORDER)
        if length > _LARGEST_MESSAGE:
            raise ValueError(f"a message of {length} bytes is announced")
        data = bytearray()
        while len(data) < length:
            piece = await reader.read(min(piece_size(self._line.down.rate), length - len(data)))
            if not piece:
                raise asyncio.IncompleteReadError(bytes(data), length)
            data += piece
            self._line.meter.add_downloaded(on_the_wire(len(piece)), current_kind.get())
            await self._line.down.pass_through(on_the_wire(len(piece)))
        return bytes(data)

    async def write_call(self, stream: Any, message: Any) -> None:
        """As `write_pbmsg`. A single call is small and others wait for it: it is booked, but does not queue."""
        if (size := _size_of_call(message)) is not None:
            self._line.up.spend(on_the_wire(size))
            self._line.meter.add_uploaded(on_the_wire(size), "dht")
        await write_pbmsg(stream, message)

    async def read_call(self, stream: Any, message: Any) -> None:
        """As `read_pbmsg_safe`; `message` is filled in."""
        await read_pbmsg_safe(stream, message)
        if (size := _size_of_call(message)) is not None:
            self._line.down.spend(on_the_wire(size))
            self._line.meter.add_downloaded(on_the_wire(size), "dht")


def piece_size(*rates: float) -> int:
    """Bytes to move at a time under ceilings of so many bytes per second, 0 for none."""
    ceiling = min((rate for rate in rates if rate), default=0.0)
    return min(_PIECE, max(_SMALLEST_PIECE, int(ceiling * _PIECE_LASTS))) if ceiling else _PIECE


def on_the_wire(count: int) -> int:
    """Bytes at the network interface for `count` bytes of content."""
    return int(count * (1 + OVERHEAD))


def _size_of_call(message: Any) -> int | None:
    fields = message.DESCRIPTOR.fields_by_name
    if any(name in fields and message.HasField(name) for name in _CALLS):
        return int(message.ByteSize())
    return None

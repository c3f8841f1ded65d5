"""How bytes go between this program and hivemind's daemon: in small chunks, each of which waits for its turn.

What waits here on the way out is not yet in the daemon's queue, where it would hold up everything behind it. What is
not read fills the daemon's buffers, and then flow control stops the peer that sends it.
"""

import asyncio
from typing import Any

from hivemind.p2p import P2P
from hivemind.p2p.p2p_daemon_bindings.utils import read_pbmsg_safe, write_pbmsg

from core.swarm.traffic.link import Link, on_the_wire
from core.swarm.traffic.meter import current_kind
from core.swarm.traffic.rate_negotiation import RateNegotiation

_LARGEST_CHUNK = 1 << 16
_SMALLEST_CHUNK = 1 << 10
_CHUNK_LASTS = 0.05
"""Seconds of the ceiling in one chunk: so finely the link is shared among streams."""
_LARGEST_MESSAGE = 1 << 26
"""Bytes; the largest part of tensors that hivemind sends is a hundredth of it. The length is a stranger's word."""
_CALLS = ("callUnary", "unaryResponse", "callUnaryResponse", "requestHandling")
"""Messages to and from the daemon that go over the network; the others are between it and us."""


class ThrottledStreams:
    """In place of hivemind's functions of the same purpose, which neither wait nor count."""

    def __init__(self, link: Link, rate_negotiation: RateNegotiation) -> None:
        self._link = link
        self._rate_negotiation = rate_negotiation

    async def send(self, data: bytes, writer: asyncio.StreamWriter, **_options: Any) -> None:
        """As `P2P.send_raw_data`: the length, then the bytes."""
        header = len(data).to_bytes(P2P.HEADER_LEN, P2P.BYTEORDER)
        rest = memoryview(header + data)
        while rest:
            chunk = rest[: chunk_size(self._link.up.rate, self._rate_negotiation.rate_for(writer))]
            size = on_the_wire(len(chunk))
            await self._rate_negotiation.wait_for(writer, size)
            await self._link.send(size, current_kind.get())
            writer.write(chunk)
            await writer.drain()
            rest = rest[len(chunk) :]

    async def receive(self, reader: asyncio.StreamReader) -> bytes:
        """As `P2P.receive_raw_data`."""
        header = await reader.readexactly(P2P.HEADER_LEN)
        length = int.from_bytes(header, P2P.BYTEORDER)
        if length > _LARGEST_MESSAGE:
            raise ValueError(f"a message of {length} bytes is announced")
        data = bytearray()
        while len(data) < length:
            chunk = await reader.read(min(chunk_size(self._link.down.rate), length - len(data)))
            if not chunk:
                raise asyncio.IncompleteReadError(bytes(data), length)
            data += chunk
            await self._link.receive(on_the_wire(len(chunk)), current_kind.get())
        return bytes(data)

    async def write_call(self, stream: Any, message: Any) -> None:
        """As `write_pbmsg`."""
        if size := _size_of_call(message):
            await self._link.send_call(size)
        await write_pbmsg(stream, message)

    async def read_call(self, stream: Any, message: Any) -> None:
        """As `read_pbmsg_safe`; `message` is filled in."""
        await read_pbmsg_safe(stream, message)
        self._link.receive_call(_size_of_call(message))


def chunk_size(*rates: float) -> int:
    """Bytes to move at a time under ceilings of so many bytes per second, 0 for none."""
    ceiling = min((rate for rate in rates if rate), default=0.0)
    return min(_LARGEST_CHUNK, max(_SMALLEST_CHUNK, int(ceiling * _CHUNK_LASTS))) if ceiling else _LARGEST_CHUNK


def _size_of_call(message: Any) -> int:
    """Bytes of it on the wire; 0 if it goes to the daemon only."""
    fields = message.DESCRIPTOR.fields_by_name
    if any(name in fields and message.HasField(name) for name in _CALLS):
        return on_the_wire(message.ByteSize())
    return 0

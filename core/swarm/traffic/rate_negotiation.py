"""Peers agree on how fast they may send to each other.

A ceiling on what comes in cannot be kept by the receiver alone: libp2p's daemon fetches up to a megabyte of each stream
ahead before flow control stops the sender. So before a stream of tensors is opened both sides announce how much of
their ceiling is left for it, and again whenever that changes; the sender keeps to it chunk by chunk. A peer that does
not know this is slowed down by not being read.
"""

import asyncio
import contextlib
import struct
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hivemind.p2p import P2P, PeerID
from hivemind.p2p.p2p_daemon_bindings.control import P2PDaemonError, P2PHandlerError

from core.swarm.traffic.link import Link
from core.swarm.traffic.token_bucket import TokenBucket

_TENSOR_STREAMS = (".rpc_aggregate_part", ".rpc_download_state")
_PERIOD = 0.4
"""Seconds between two checks whether the announced shares are still right."""
_TOGETHER = 0.05
"""Seconds after a new stream in which others count as opened with it."""
_WORTH_ANNOUNCING = 0.02
"""Smallest change of a share, as part of it."""
_ANSWER_TIMEOUT = 2.0
"""Seconds for the other side to answer before the stream is opened all the same."""
_SLOWEST = 1000.0
"""Bytes per second that a peer can slow us down to: less would hardly differ from not reading at all."""
_MOST_PEERS = 1000
"""Peers whose ceilings are remembered, the latest of them: any stranger can send one."""
_RATE = struct.Struct(">d")


@dataclass
class _IncomingStream:
    """A stream on which tensors may come in."""

    p2p: P2P
    peer: PeerID
    name: str
    writer: asyncio.StreamWriter | None
    announced: float = 0.0


class RateNegotiation:
    """Of one session, in each of its processes: what we announce to others, and what they have announced."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._streams: list[_IncomingStream] = []
        self._promised: dict[PeerID, float] = {}
        """Peers that were told our ceiling and have not opened their stream, and until when that is waited for."""
        self._watch: asyncio.Task[None] | None = None
        self._has_changed = asyncio.Event()
        self._ceilings: dict[PeerID, TokenBucket] = {}

    def rate_for(self, writer: asyncio.StreamWriter) -> float:
        """Bytes per second that the peer at the other end takes from us; 0 is no ceiling."""
        ceiling = self._ceiling_of(writer)
        return ceiling.rate if ceiling is not None else 0.0

    async def wait_for(self, writer: asyncio.StreamWriter, count: int) -> None:
        """Wait until `count` more bytes may go to the peer at the other end."""
        ceiling = self._ceiling_of(writer)
        if ceiling is not None:
            await ceiling.wait_for(count)

    def _ceiling_of(self, writer: asyncio.StreamWriter) -> TokenBucket | None:
        return self._ceilings.get(getattr(writer, "remote_peer", None))

    async def answer(self, request: bytes, peer: PeerID, *, sends: bool = True) -> bytes:
        """A peer announces its ceiling before or while a stream is open between us, and gets ours. All members of a
        group ask at the same moment: each is counted from then on if it `sends`."""
        self._set_ceiling(peer, request)
        if sends and not self._streams_from(peer):
            self._promised[peer] = time.monotonic() + _ANSWER_TIMEOUT
        return _RATE.pack(self._share(max(1, self._streams_from(peer))))

    def _set_ceiling(self, peer: PeerID, announced: bytes) -> None:
        """The bytes per second that the peer takes from us; 0 is no ceiling."""
        (rate,) = _RATE.unpack(announced)
        if not 0 <= rate < float("inf"):
            raise ValueError("not a rate")
        ceiling = self._ceilings.pop(peer, None) or TokenBucket()
        ceiling.rate = max(rate, _SLOWEST) if rate else 0.0
        if rate:
            self._ceilings[peer] = ceiling
        if len(self._ceilings) > _MOST_PEERS:
            self._ceilings.pop(next(iter(self._ceilings)))

    async def expect(self, p2p: P2P, peer: PeerID, name: str) -> _IncomingStream:
        """Call it before a stream is opened: both sides must know the rate before the first byte."""
        stream = _IncomingStream(p2p, peer, name, None)
        self._add(stream)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                await self._announce(stream)
        return stream

    def accept(self, p2p: P2P, peer: PeerID, name: str, writer: asyncio.StreamWriter) -> None:
        self._promised.pop(peer, None)
        self._add(_IncomingStream(p2p, peer, name, writer))

    def drop(self, stream: _IncomingStream) -> None:
        self._streams.remove(stream)
        self._link.count_incoming(-1)

    def _add(self, stream: _IncomingStream) -> None:
        self._streams.append(stream)
        self._link.count_incoming(+1)
        self._has_changed.set()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._keep_announced())

    async def _keep_announced(self) -> None:
        while self._streams:
            for stream in [stream for stream in self._streams if stream.writer and stream.writer.is_closing()]:
                self.drop(stream)
            self._has_changed.clear()
            await asyncio.gather(*map(self._announce_if_changed, self._streams))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_PERIOD):
                    await self._has_changed.wait()
            await asyncio.sleep(_TOGETHER)

    def _share(self, streams: int) -> float:
        """Bytes per second for so many of the streams on which tensors come in."""
        now = time.monotonic()
        self._promised = {peer: until for peer, until in self._promised.items() if now < until}
        return self._link.rate_for_streams * streams / max(streams, self._link.incoming + len(self._promised))

    def _streams_from(self, peer: PeerID) -> int:
        return sum(stream.peer == peer for stream in self._streams)

    async def _announce_if_changed(self, stream: _IncomingStream) -> None:
        share = self._share(self._streams_from(stream.peer))
        if abs(share - stream.announced) > _WORTH_ANNOUNCING * stream.announced:
            await self._announce(stream)

    async def _announce(self, stream: _IncomingStream) -> None:
        stream.announced = self._share(self._streams_from(stream.peer))
        # A peer with other software, or in client mode, does not serve this call.
        with contextlib.suppress(P2PHandlerError, P2PDaemonError, ValueError, struct.error):
            call = stream.p2p._client.call_unary_handler
            ceiling = await call(stream.peer, _call_name(stream.name), _RATE.pack(stream.announced))
            self._set_ceiling(stream.peer, ceiling)


Open = Callable[[P2P, PeerID, str], Awaitable[Any]]
Serve = Callable[..., Awaitable[None]]


def negotiated_open(call_stream: Open, rate_negotiation: RateNegotiation) -> Open:
    """In place of `P2P.call_binary_stream_handler`."""

    async def opened(p2p: P2P, peer: PeerID, name: str) -> Any:
        if not name.endswith(_TENSOR_STREAMS):
            return await call_stream(p2p, peer, name)
        stream = await rate_negotiation.expect(p2p, peer, name)
        try:
            info, reader, writer = await call_stream(p2p, peer, name)
        except BaseException:  # also a cancelled task must not leave the stream counted
            rate_negotiation.drop(stream)
            raise
        stream.writer, writer.remote_peer = writer, peer
        return info, reader, writer

    return opened


def negotiated_serve(add_handler: Serve, rate_negotiation: RateNegotiation) -> Serve:
    """In place of `P2P.add_binary_stream_handler`."""

    async def served(p2p: P2P, name: str, handler: Callable[..., Awaitable[None]], balanced: bool = False) -> None:
        if not name.endswith(_TENSOR_STREAMS):
            return await add_handler(p2p, name, handler, balanced=balanced)

        async def noted(info: Any, reader: asyncio.StreamReader, writer: Any) -> None:
            writer.remote_peer = info.peer_id
            if not name.endswith(".rpc_download_state"):
                # Of a state only the request comes in.
                rate_negotiation.accept(p2p, info.peer_id, name, writer)
            await handler(info, reader, writer)

        answer = partial(rate_negotiation.answer, sends=not name.endswith(".rpc_download_state"))
        await p2p._client.add_unary_handler(_call_name(name), answer)
        return await add_handler(p2p, name, noted, balanced=balanced)

    return served


def _call_name(stream_name: str) -> str:
    """The call that says to the process behind a stream how fast it may send."""
    return f"{stream_name}.pace"

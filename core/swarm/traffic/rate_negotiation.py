"""Peers tell each other how fast they may send.

A ceiling on what comes in cannot be kept by the receiver alone: libp2p's daemon fetches up to a megabyte of each stream
ahead before flow control stops the sender. So before a stream of tensors is opened both sides tell each other
how much of their ceiling is left for it, and again whenever that changes; the sender keeps to it piece by piece. A peer
that does not know this is slowed down by not being read.
"""

import asyncio
import contextlib
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from hivemind.p2p import P2P, PeerID
from hivemind.p2p.p2p_daemon_bindings.control import P2PDaemonError, P2PHandlerError

from core.swarm.traffic.meter import Line
from core.swarm.traffic.token_bucket import TokenBucket

_TENSOR_STREAMS = (".rpc_aggregate_part", ".rpc_download_state")
_PERIOD = 0.2
"""Seconds between two looks at whether the shares are still right."""
_WORTH_TELLING = 0.02
"""Smallest change of a share, as part of it."""
_PATIENCE = 2.0
"""Seconds for the other side to take note before the stream is opened all the same."""
_SLOWEST = 1000.0
"""Bytes per second that a peer can slow us down to: less is as good as not reading."""
_MOST_WISHES = 1000
"""Peers whose wishes are remembered, the latest of them: any stranger can send one."""
_RATE = struct.Struct(">d")


@dataclass
class _Inflow:
    """A stream on which tensors may come in."""

    p2p: P2P
    peer: PeerID
    name: str
    writer: asyncio.StreamWriter | None
    told: float = 0.0


class RateNegotiation:
    """Of one session, in each of its processes: what we tell others, and what they have told us."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._inflows: list[_Inflow] = []
        self._watch: asyncio.Task[None] | None = None
        self._wishes: dict[PeerID, TokenBucket] = {}

    def rate_for(self, writer: asyncio.StreamWriter) -> float:
        """Bytes per second that the peer at the other end takes from us; 0 is no ceiling."""
        wish = self._wish(writer)
        return wish.rate if wish is not None else 0.0

    async def wait_for(self, writer: asyncio.StreamWriter, count: int) -> None:
        """Until the peer at the other end may have `count` more bytes."""
        wish = self._wish(writer)
        if wish is not None:
            await wish.pass_through(count)

    def _wish(self, writer: asyncio.StreamWriter) -> TokenBucket | None:
        return self._wishes.get(getattr(writer, "remote_peer", None))

    async def answer(self, request: bytes, peer: PeerID) -> bytes:
        """A peer tells its wish before or while a stream is open between us, and hears ours."""
        self._take_wish(peer, request)
        return _RATE.pack(self._share(max(1, self._inflows_from(peer))))

    def _take_wish(self, peer: PeerID, wished: bytes) -> None:
        """The bytes per second that the peer takes from us; 0 is no ceiling."""
        (rate,) = _RATE.unpack(wished)
        if not 0 <= rate < float("inf"):
            raise ValueError("not a rate")
        wish = self._wishes.pop(peer, None) or TokenBucket()
        wish.rate = max(rate, _SLOWEST) if rate else 0.0
        if rate:
            self._wishes[peer] = wish
        if len(self._wishes) > _MOST_WISHES:
            self._wishes.pop(next(iter(self._wishes)))

    async def expect(self, p2p: P2P, peer: PeerID, name: str) -> _Inflow:
        """Before a stream is opened: both sides are to know before the first byte."""
        inflow = _Inflow(p2p, peer, name, None)
        self._add(inflow)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._tell(inflow), _PATIENCE)
        return inflow

    def accept(self, p2p: P2P, peer: PeerID, name: str, writer: asyncio.StreamWriter) -> None:
        self._add(_Inflow(p2p, peer, name, writer))

    def drop(self, inflow: _Inflow) -> None:
        self._inflows.remove(inflow)
        self._line.count_inflows(-1)

    def _add(self, inflow: _Inflow) -> None:
        self._inflows.append(inflow)
        self._line.count_inflows(+1)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._keep_told())

    async def _keep_told(self) -> None:
        while self._inflows:
            for inflow in [inflow for inflow in self._inflows if inflow.writer and inflow.writer.is_closing()]:
                self.drop(inflow)
            await asyncio.gather(*map(self._tell_if_changed, self._inflows), asyncio.sleep(_PERIOD))

    def _share(self, streams: int) -> float:
        """Bytes per second for so many of the streams on which tensors come in."""
        return self._line.down.rate * streams / max(streams, self._line.inflows)

    def _inflows_from(self, peer: PeerID) -> int:
        return sum(inflow.peer == peer for inflow in self._inflows)

    async def _tell_if_changed(self, inflow: _Inflow) -> None:
        share = self._share(self._inflows_from(inflow.peer))
        if abs(share - inflow.told) > _WORTH_TELLING * inflow.told:
            await self._tell(inflow)

    async def _tell(self, inflow: _Inflow) -> None:
        inflow.told = self._share(self._inflows_from(inflow.peer))
        # A peer with other software, or in client mode, has nobody to hear it.
        with contextlib.suppress(P2PHandlerError, P2PDaemonError, ValueError, struct.error):
            call = inflow.p2p._client.call_unary_handler(inflow.peer, _wish_name(inflow.name), _RATE.pack(inflow.told))
            self._take_wish(inflow.peer, await call)


Open = Callable[[P2P, PeerID, str], Awaitable[Any]]
Serve = Callable[..., Awaitable[None]]


def negotiated_open(call_stream: Open, rate_negotiation: RateNegotiation) -> Open:
    """In place of `P2P.call_binary_stream_handler`."""

    async def opened(p2p: P2P, peer: PeerID, name: str) -> Any:
        if not name.endswith(_TENSOR_STREAMS):
            return await call_stream(p2p, peer, name)
        inflow = await rate_negotiation.expect(p2p, peer, name)
        try:
            info, reader, writer = await call_stream(p2p, peer, name)
        except BaseException:
            rate_negotiation.drop(inflow)
            raise
        inflow.writer, writer.remote_peer = writer, peer
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

        await p2p._client.add_unary_handler(_wish_name(name), rate_negotiation.answer)
        return await add_handler(p2p, name, noted, balanced=balanced)

    return served


def _wish_name(stream_name: str) -> str:
    """The call by which the process behind a stream hears how fast it may send."""
    return f"{stream_name}.pace"

"""Whether a peer can be called: it asks a backbone to call it back.

libp2p's daemons ask each other the same (AutoNAT, https://github.com/libp2p/specs/blob/master/autonat/autonat-v1.md),
but ours does not report the result. As in AutoNAT, a backbone calls only the IP address that the request came from, so
that nobody can make it call strangers. A second daemon makes the call, because the first one is already connected.

Where there is IPv6, the daemons are connected over it, but many routers let no IPv6 connections in. Then a second
daemon of the peer asks over IPv4, and names the peer.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import Annotated

import msgspec
from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.p2p import P2P, P2PDaemonError, PeerID
from hivemind.p2p.p2p_daemon_bindings.datastructures import StreamInfo
from hivemind.p2p.p2p_daemon_bindings.utils import ControlFailure
from hivemind.utils.multiaddr import Multiaddr
from msgspec import Meta

from core.swarm.dht.addresses import peer_id_of

log = logging.getLogger(__name__)

_PROTOCOL = "/idlehive/dial-back/1"
_CALL_TIMEOUT = 5.0
"""Seconds for a call: a router that drops it says nothing."""
_ANSWER_TIMEOUT = 20.0
"""Seconds for an answer: others may be served first."""
_MOST_WAITING = 3
"""Requests that may wait. More are refused, because each of them starts a daemon."""
PAUSE = 3.0
"""Seconds until the same IP address is called again."""

MOST_PORTS = 4
"""Of one request."""
Port = Annotated[int, Meta(ge=1024, le=65535)]
"""Below 1024 are services that nobody should be made to call."""


class Request(msgspec.Struct, frozen=True):
    ports: Annotated[tuple[Port, ...], Meta(min_length=1, max_length=MOST_PORTS)]
    """TCP ports under which the peer may be known outside; one that answers is enough."""
    peer: Annotated[str, Meta(max_length=128)] | None = None
    """Id of the one to be called there; None: who asks."""


class Answer(msgspec.Struct, frozen=True):
    address: str
    """The IP address from which the request came, and which was called."""
    reached: bool | None
    """None: not tried, since too many ask."""


_BROKEN = (
    *(TimeoutError, OSError, P2PDaemonError, ControlFailure),
    *(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError, msgspec.MsgspecError, RecursionError),
)
"""What ends a conversation early."""
_requests, _answers = msgspec.json.Decoder(Request), msgspec.json.Decoder(Answer)


def serve_dial_backs(dht: DHT) -> None:
    """Call peers back from now on, for as long as the DHT lives."""
    dht.run_coroutine(_serve)


async def _serve(_dht: DHT, node: DHTNode) -> None:
    await node.p2p.add_binary_stream_handler(_PROTOCOL, DialBack().answer)


class DialBack:
    """One call at a time. Lives in the DHT's process."""

    def __init__(self) -> None:
        self._calling = asyncio.Lock()
        self._waiting = 0
        self._called: dict[str, float] = {}

    async def answer(self, info: StreamInfo, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Handle one request."""
        try:
            async with asyncio.timeout(_CALL_TIMEOUT):
                request = _requests.decode(await reader.readuntil(b"\n"))
            writer.write(msgspec.json.encode(await self._call_back(info, request)) + b"\n")
            await writer.drain()
        except _BROKEN as error:
            log.info("a request to be called back failed: %r", error)
        finally:
            writer.close()

    async def _call_back(self, info: StreamInfo, request: Request) -> Answer:
        peer = PeerID.from_base58(request.peer) if request.peer else info.peer_id
        version = "ip4" if "ip4" in info.addr else "ip6"
        address, now = info.addr[version], time.monotonic()
        self._called = {known: at for known, at in self._called.items() if now - at < PAUSE}
        if address in self._called or self._waiting >= _MOST_WAITING:
            return Answer(address, None)
        self._called[address] = now
        self._waiting += 1
        try:
            async with self._calling:
                candidates = [Multiaddr(f"/{version}/{address}/tcp/{port}") for port in request.ports]
                return Answer(address, await _can_call(peer, candidates))
        finally:
            self._waiting -= 1
            self._called[address] = time.monotonic()


async def _can_call(peer: PeerID, addresses: Sequence[Multiaddr]) -> bool:
    """Whether `peer`, and nobody else, answers at one of them."""
    async with _second_daemon() as caller:
        try:
            async with asyncio.timeout(_CALL_TIMEOUT):
                await caller._client.connect(peer, addresses)
        except (TimeoutError, ControlFailure):
            return False
        return True


@asynccontextmanager
async def _second_daemon() -> AsyncIterator[P2P]:
    """One that is connected to nobody, and has an id of its own."""
    daemon = await P2P.create(
        dht_mode="client", no_listen=True, host_maddrs=None, auto_nat=False, nat_port_map=False, use_relay=False
    )
    try:
        yield daemon
    finally:
        await daemon.shutdown()


def ask_to_be_called(
    dht: DHT, backbone: Sequence[str], ports: Sequence[int], *, by_ipv4: bool = False
) -> Answer | None:
    """The answer of the first of `backbone` (multiaddresses) that gives one; None if none does.

    Blocks for some seconds. Asks over the existing connection, or over IPv4 alone.
    """
    ask = _ask_by_ipv4 if by_ipv4 else _ask
    try:
        found: Answer | None = dht.run_coroutine(partial(ask, backbone=backbone, ports=tuple(ports)))
    except Exception as error:  # noqa: BLE001 - also whatever a DHT that is ending says
        log.info("no backbone was asked to call back: %r", error)
        return None
    return found


async def _ask(_dht: DHT, node: DHTNode, *, backbone: Sequence[str], ports: tuple[Port, ...]) -> Answer | None:
    for peer in dict.fromkeys(map(peer_id_of, backbone)):
        if answer := await _asked(node.p2p, peer, Request(ports)):
            return answer
    return None


async def _ask_by_ipv4(dht: DHT, _node: DHTNode, *, backbone: Sequence[str], ports: tuple[Port, ...]) -> Answer | None:
    addresses = [address for address in backbone if address.startswith(("/ip4/", "/dns4/"))]
    if not addresses:
        return None
    async with _second_daemon() as daemon:
        for address in addresses:
            request = Request(ports, str(dht.peer_id))
            if answer := await _asked(daemon, peer_id_of(address), request, [Multiaddr(address.partition("/p2p/")[0])]):
                return answer
    return None


async def _asked(daemon: P2P, peer: PeerID, request: Request, addresses: Sequence[Multiaddr] = ()) -> Answer | None:
    """The answer of `peer`; the daemon first connects to it at `addresses`, if there are any."""
    try:
        async with asyncio.timeout(_ANSWER_TIMEOUT):
            if addresses:
                await daemon._client.connect(peer, addresses)
            _info, reader, writer = await daemon.call_binary_stream_handler(peer, _PROTOCOL)
            with closing(writer):
                writer.write(msgspec.json.encode(request) + b"\n")
                return _answers.decode(await reader.readuntil(b"\n"))
    except _BROKEN as error:
        # It cannot be reached, or does not know this protocol yet.
        log.info("%r did not call back: %r", peer, error)
    return None

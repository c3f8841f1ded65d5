"""What a peer says of its work when it is asked itself, over a connection that proves who it is.

A peer is asked if it has published nothing that fits. The peers that keep its record can neither withhold nor lose this
answer, so a peer that gives none does not want to. A peer that is asked knows that it is watched, so all others are
read from the DHT alone. A peer that only calls others is asked over the connection that it made.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from functools import partial

from google.protobuf.message import DecodeError
from hivemind import DHT
from hivemind.dht import DHTNode
from hivemind.p2p import P2PContext, P2PDaemonError, P2PHandlerError, PeerID
from hivemind.proto import averaging_pb2, dht_pb2

log = logging.getLogger(__name__)

_TIMEOUT = 5.0
"""Seconds for an answer."""
_said: dict[str, bytes] = {}
"""What this peer answers, by key. Filled in the DHT's process alone."""


def answer_with(dht: DHT, key: str, data: bytes) -> None:
    """Say this from now on to anybody who asks, without waiting until it is so."""
    dht.run_coroutine(partial(_keep, key=key, data=data), return_future=True)


async def _keep(_dht: DHT, node: DHTNode, *, key: str, data: bytes) -> None:
    async def answer(_request: averaging_pb2.DownloadRequest, _context: P2PContext) -> averaging_pb2.DownloadData:
        return averaging_pb2.DownloadData(metadata=_said[key])

    is_new, _said[key] = key not in _said, data
    if is_new:
        await node.p2p.add_protobuf_handler(key, answer, averaging_pb2.DownloadRequest)


def ask(dht: DHT, key: str, peers: Sequence[PeerID]) -> Mapping[PeerID, bytes | None]:
    """What each says; empty if it is there and says nothing; None if it cannot be reached. Takes some seconds."""
    try:
        found: Mapping[PeerID, bytes | None] = dht.run_coroutine(partial(_ask_all, key=key, peers=peers))
    except Exception as error:  # noqa: BLE001 - whatever a DHT that is ending says
        log.info("%s were not asked: %r", peers, error)
        return dict.fromkeys(peers)
    return found


async def _ask_all(_dht: DHT, node: DHTNode, *, key: str, peers: Sequence[PeerID]) -> Mapping[PeerID, bytes | None]:
    said = await asyncio.gather(*(_ask(node, key, peer) for peer in peers))
    return dict(zip(peers, said, strict=True))


async def _ask(node: DHTNode, key: str, peer: PeerID) -> bytes | None:
    try:
        async with asyncio.timeout(_TIMEOUT):
            answer = await node.p2p.call_protobuf_handler(
                peer, key, averaging_pb2.DownloadRequest(), averaging_pb2.DownloadData
            )
    except DecodeError as error:
        log.info("%s answers with garbage: %r", peer, error)
        return b""
    except TimeoutError:
        log.info("%s did not answer in time", peer)
        return b"" if await _answers(node, peer) else None
    except (P2PDaemonError, P2PHandlerError, OSError, EOFError) as error:
        log.info("%s says nothing of its work: %r", peer, error)
        return b"" if await _is_there(node, peer) else None
    return bytes(answer.metadata)


async def _is_there(node: DHTNode, peer: PeerID) -> bool:
    """Whether the daemon is connected to it."""
    try:
        return peer in [info.peer_id for info in await node.p2p.list_peers()]
    except (P2PDaemonError, DecodeError, OSError, EOFError) as error:
        log.info("the daemon does not say who is connected: %r", error)
        return False


async def _answers(node: DHTNode, peer: PeerID) -> bool:
    """Whether it answers a ping now. The daemon stays connected to a computer that is asleep."""
    try:
        await node.protocol.get_stub(peer).rpc_ping(dht_pb2.PingRequest(peer=node.protocol.node_info), timeout=_TIMEOUT)
    except (P2PDaemonError, P2PHandlerError):
        # One that only calls others has no place in the DHT, and its daemon says so.
        return await _is_there(node, peer)
    except Exception as error:  # noqa: BLE001 - time-outs, and whatever a stranger answers
        log.info("%s does not answer a ping, either: %r", peer, error)
        return False
    return True

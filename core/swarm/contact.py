"""Whether somebody of the run's backbone is in reach."""

import asyncio
from collections.abc import Sequence
from functools import partial

from hivemind import DHT
from hivemind.p2p import PeerID
from hivemind.p2p.p2p_daemon_bindings.utils import P2PDaemonError

_PATIENCE = 5.0
"""Seconds for the DHT's process to ask; hivemind itself waits three for an answer."""


def answers(dht: DHT, peers: Sequence[PeerID]) -> bool:
    """Whether at least one of `peers` answers now. Waits for it some seconds.

    To have a connection says nothing: the daemon lists one for 40 s after the line is cut, which is longer than other
    peers' records last, so that whoever trusts it believes in the meantime to be the run's only peer. Who answers is
    also known again to the table of peers, which forgets those that do not.
    """
    ask = partial(_anybody_answers, [peer.to_bytes() for peer in peers])
    try:
        return bool(dht.run_coroutine(ask, return_future=True).result(_PATIENCE))
    except (TimeoutError, P2PDaemonError):
        return False


async def _anybody_answers(peers: list[bytes], _dht: DHT, node: "object") -> bool:
    ping = node.protocol.call_ping  # type: ignore[attr-defined]
    found = await asyncio.gather(*(ping(PeerID(peer)) for peer in peers))
    return any(answer is not None for answer in found)

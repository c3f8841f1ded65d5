"""Whether a peer is still there: asked while a group waits for it, during a round, and when the backbone is away.

libp2p's ping (https://github.com/libp2p/specs/blob/master/ping/ping.md): every daemon answers it, also that of a peer
that only calls others, over the connection that it made; a process that is busy computing is not taken for a lost one.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

from hivemind.p2p import P2P, P2PDaemonError, PeerID

SILENCE = 3.0
"""Seconds without an answer after which a peer is taken to be lost: a vanished one costs the others five in all."""
_INTERVAL = 1.0
"""Seconds between two pings."""
_PROTOCOL = "/ipfs/ping/1.0.0"
_PAYLOAD = 32
"""Bytes, by the specification."""


async def ping(p2p: P2P, peer: PeerID) -> None:
    """Return when `peer` has answered.

    Raises:
        P2PDaemonError: it cannot be reached.
    """
    sent = os.urandom(_PAYLOAD)
    _stream, reader, writer = await p2p._client.stream_open(peer, [_PROTOCOL])
    try:
        writer.write(sent)
        await writer.drain()
        if await reader.readexactly(_PAYLOAD) != sent:
            raise P2PDaemonError("it answered a ping with something else")
    except (OSError, asyncio.IncompleteReadError) as error:
        raise P2PDaemonError(str(error)) from error
    finally:
        writer.close()


async def until_silent(p2p: P2P, peer: PeerID, last_message: Callable[[], float] = lambda: 0.0) -> None:
    """Return when nothing has come from `peer` for `SILENCE` seconds.

    Parameters:
        last_message: when something other than an answer to a ping came from it, by the clock of the running loop. On a
            slow line the answer waits behind that.
    """
    clock = asyncio.get_running_loop().time
    answered = clock()
    while (left := max(answered, last_message()) + SILENCE - clock()) > 0:
        # Not asyncio.wait_for: before Python 3.12 it forgets a cancellation that comes together with the answer, and
        # the round would wait for this watch for as long as the peer answers.
        with suppress(TimeoutError, P2PDaemonError):
            async with asyncio.timeout(left):
                await ping(p2p, peer)
            answered = clock()
        await asyncio.sleep(min(_INTERVAL, max(0.0, max(answered, last_message()) + SILENCE - clock())))


async def close_silent_connections(p2p: P2P) -> bool:
    """Close all connections if every other end is silent; whether there were any. The next call makes a new one.

    They belong to a network that this computer has left, which the daemon would notice only after 40 seconds. As long
    as one end answers, this computer is where it was, and a round may be going on over any of the others.
    """
    peers = [info.peer_id for info in await p2p.list_peers()]
    if not peers or any(await asyncio.gather(*(_answers(p2p, peer) for peer in peers))):
        return False
    for peer in peers:
        with suppress(P2PDaemonError):
            await p2p._client.disconnect(peer)
    return True


async def _answers(p2p: P2P, peer: PeerID) -> bool:
    try:
        async with asyncio.timeout(SILENCE):
            await ping(p2p, peer)
    except (TimeoutError, P2PDaemonError):
        return False
    return True

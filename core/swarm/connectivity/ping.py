"""Whether a peer is still there: asked while a group waits for it, during a round, and when the backbone is away.

libp2p's ping (https://github.com/libp2p/specs/blob/master/ping/ping.md): every daemon answers it, also that of a peer
that only calls others, over the connection that it made; a process that is busy computing is not taken for a lost one.
"""

import asyncio
import math
import os
from collections.abc import Callable
from contextlib import closing, suppress

from hivemind.p2p import P2P, P2PDaemonError, PeerID

_ANSWER_TIMEOUT = 2.0
"""Seconds in which an answer must come."""
ROUND_INTERVAL, SEARCH_INTERVAL = 1.0, 2.0
"""Seconds between two pings of a member of a round, and of a peer that a group waits for: while all look for one
another, pings are most of the traffic. In both cases a vanished peer costs the others five seconds in all."""
SILENCE = ROUND_INTERVAL + _ANSWER_TIMEOUT
"""Seconds without an answer after which a peer is taken to be lost."""
_TICK = 0.25
"""Seconds between two checks for an answer."""
_PROTOCOL = "/ipfs/ping/1.0.0"
_PAYLOAD = 32
"""Bytes, by the specification."""


class Pinger:
    """Pings one peer, again and again over the same stream: to open one costs four times as many bytes as a ping."""

    def __init__(self, p2p: P2P, peer: PeerID) -> None:
        self._p2p, self._peer = p2p, peer
        self._stream: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ping(self) -> None:
        """Return when the peer has answered.

        Raises:
            P2PDaemonError: it cannot be reached.
        """
        try:
            if not await self._echoes(os.urandom(_PAYLOAD)):
                raise P2PDaemonError("it answered a ping with something else")
        except (OSError, asyncio.IncompleteReadError) as error:
            raise P2PDaemonError(str(error)) from error

    async def _echoes(self, payload: bytes) -> bool:
        echoes = False
        try:
            if self._stream is None:
                _info, reader, writer = await self._p2p._client.stream_open(self._peer, [_PROTOCOL])
                self._stream = reader, writer
            reader, writer = self._stream
            writer.write(payload)
            await writer.drain()
            echoes = await reader.readexactly(_PAYLOAD) == payload
            return echoes
        finally:
            if not echoes:
                # Also after a time-out: a late answer must not be taken for one to the next ping.
                self.close()

    def close(self) -> None:
        if self._stream is not None:
            self._stream[1].close()
        self._stream = None


async def until_silent(
    p2p: P2P, peer: PeerID, last_message: Callable[[], float] = lambda: 0.0, *, interval: float = ROUND_INTERVAL
) -> None:
    """Return when nothing has come from `peer` for `interval` and the time of an answer.

    Parameters:
        last_message: when something other than an answer to a ping came from it, by the clock of the running loop. On a
            slow line the answer waits behind that.
        interval: seconds between two pings.
    """
    clock = asyncio.get_running_loop().time
    answered, silence = clock(), interval + _ANSWER_TIMEOUT

    def left() -> float:
        return max(answered, last_message()) + silence - clock()

    with closing(Pinger(p2p, peer)) as pinger:
        while True:
            if await _answers_within(max(_ANSWER_TIMEOUT, left()), pinger):
                answered = clock()
            if left() <= 0:
                return
            await asyncio.sleep(min(interval, max(0.0, left())))


async def _answers_within(seconds: float, pinger: Pinger) -> bool:
    """Whether a ping is answered. Time in which this process itself did not run does not count: the answer may wait."""
    ping = asyncio.ensure_future(pinger.ping())
    try:
        for _tick in range(math.ceil(seconds / _TICK)):
            # Not asyncio.wait_for: before Python 3.12 it forgets a cancellation that comes together with the answer,
            # and the round would wait for this watch for as long as the peer answers.
            await asyncio.wait({ping}, timeout=_TICK)
            if ping.done():
                break
        with suppress(P2PDaemonError):
            if ping.done():
                ping.result()
                return True
        return False
    finally:
        ping.cancel()
        await asyncio.gather(ping, return_exceptions=True)


async def close_silent_connections(p2p: P2P) -> bool:
    """Close all connections if every other end is silent; whether there were any. The next call makes a new one.

    They belong to a network that this computer has left, which the daemon would notice only after 40 seconds. As long
    as one end answers, this computer is where it was, and a round may be going on over any of the others.
    """
    peers = [info.peer_id for info in await p2p.list_peers()]
    if not peers or any(await asyncio.gather(*(answers(p2p, peer) for peer in peers))):
        return False
    for peer in peers:
        with suppress(P2PDaemonError):
            await p2p._client.disconnect(peer)
    return True


async def answers(p2p: P2P, peer: PeerID) -> bool:
    """Whether the peer answers a ping."""
    with closing(Pinger(p2p, peer)) as pinger:
        return await _answers_within(SILENCE, pinger)

"""Real peers on loopback that ask for short answers, thousands of times."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hivemind.p2p import P2P, P2PContext
from hivemind.proto import averaging_pb2

from core.swarm.traffic.lingering_close import LINGER, first
from tests.swarm.installed import installed

CALLS, AT_ONCE, MESSAGES = 1500, 5, 20


@pytest.fixture(autouse=True)
def patched(short_folder: Path) -> Iterator[None]:
    with installed(short_folder):
        yield


async def answer(requests: AsyncIterator[averaging_pb2.JoinRequest], _context: P2PContext) -> AsyncIterator[object]:
    """To the first of many requests: what is never read makes hivemind's daemon reset the stream."""
    await anext(requests)
    for _ in range(MESSAGES):
        yield averaging_pb2.MessageFromLeader()


async def requests() -> AsyncIterator[averaging_pb2.JoinRequest]:
    for _ in range(MESSAGES):
        yield averaging_pb2.JoinRequest()


@contextlib.asynccontextmanager
async def two_peers(handler: Callable[..., AsyncIterator[object]] = answer) -> AsyncIterator[tuple[P2P, P2P]]:
    one = await P2P.create(host_maddrs=["/ip4/127.0.0.1/tcp/0"])
    try:
        addresses = [str(address) for address in await one.get_visible_maddrs()]
        other = await P2P.create(host_maddrs=["/ip4/127.0.0.1/tcp/0"], initial_peers=addresses)
        try:
            await one.add_protobuf_handler(
                "join", handler, averaging_pb2.JoinRequest, stream_input=True, stream_output=True
            )
            yield one, other
        finally:
            await other.shutdown()
    finally:
        await one.shutdown()


async def ask(asked: P2P, asking: P2P) -> Any:
    return await asking.iterate_protobuf_handler(asked.peer_id, "join", requests(), averaging_pb2.MessageFromLeader)


def test_the_last_message_of_a_stream_arrives_always() -> None:
    """Without the linger about ten of so many answers come short."""

    async def received(asked: P2P, asking: P2P) -> int:
        stream, count = await ask(asked, asking), 0
        with contextlib.suppress(StopAsyncIteration):
            while count < MESSAGES:
                await anext(stream)
                count += 1
        await stream.aclose()
        return count

    async def call() -> set[int]:
        counts = set[int]()
        async with two_peers() as (one, other):
            for _ in range(CALLS // AT_ONCE):
                counts |= set(await asyncio.gather(*(received(one, other) for _ in range(AT_ONCE))))
        return counts

    assert asyncio.run(call()) == {MESSAGES}


def test_who_knows_how_much_comes_does_not_wait_for_the_end_of_the_stream() -> None:
    async def call() -> tuple[float, float]:
        async with two_peers() as (one, other):
            begin = time.monotonic()
            assert len([message async for message in first(MESSAGES, await ask(one, other))]) == MESSAGES
            told = time.monotonic() - begin
            assert len([message async for message in await ask(one, other)]) == MESSAGES
            return told, time.monotonic() - begin - told

    told, not_told = asyncio.run(call())
    assert told < LINGER / 2
    assert LINGER <= not_told < 2 * LINGER


def test_a_peer_that_never_stops_answering_is_not_listened_to_for_long() -> None:
    async def call() -> None:
        ended = asyncio.Event()

        async def endless(requests: AsyncIterator[object], _context: P2PContext) -> AsyncIterator[object]:
            await anext(requests)
            try:
                while True:
                    yield averaging_pb2.MessageFromLeader()
                    await asyncio.sleep(0.01)
            finally:
                ended.set()

        async with two_peers(endless) as (one, other):
            assert len([message async for message in first(MESSAGES, await ask(one, other))]) == MESSAGES
            await asyncio.wait_for(ended.wait(), 4 * LINGER)

    asyncio.run(call())

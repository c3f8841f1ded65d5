"""Streams whose last message arrives.

hivemind's daemon resets a stream when the program closes its end of it, and a reset overtakes what the other side has
not read yet: of 17,000 answers of two messages three arrived short, on loopback. A group then begins without a member
that never heard of it, or a round succeeds for one member and fails for another. So who has answered closes only when
the other side has, or after a while (compare SO_LINGER, socket(7)); who asked knows from the content when all is there.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from hivemind.p2p import P2P

LINGER = 2.0
"""Seconds in which the other side can read what was sent last."""
_BUFFER = 1 << 16

Serve = Callable[..., Awaitable[None]]
Message = TypeVar("Message")
_draining = set[asyncio.Task[None]]()


class _LingeringWriter:
    """A writer that the handler of a stream closes, and that stays open."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer, self._is_closed = writer, False
        self.has_written = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        self.has_written = True
        self._writer.write(data)

    def close(self) -> None:
        self._is_closed = True

    def is_closing(self) -> bool:
        return self._is_closed or self._writer.is_closing()


def lingering_serve(add_handler: Serve) -> Serve:
    """In place of `P2P.add_binary_stream_handler`."""

    async def served(p2p: P2P, name: str, handler: Callable[..., Awaitable[None]], balanced: bool = False) -> None:
        async def lingering(info: Any, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            answer = _LingeringWriter(writer)
            try:
                await handler(info, reader, answer)
                # An answer without a message, as of a donor that is busy, has nothing to lose.
                if answer.has_written:
                    await asyncio.sleep(0)  # the handler has only just cancelled its last reading
                    await _until_closed(reader)
            finally:
                writer.close()

        return await add_handler(p2p, name, lingering, balanced=balanced)

    return served


async def _until_closed(reader: asyncio.StreamReader) -> None:
    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(LINGER):
            while await reader.read(_BUFFER):
                pass


async def first(count: int, stream: AsyncIterator[Message]) -> AsyncIterator[Message]:
    """That many messages of a stream, which then may take its time to end."""
    for _ in range(count):
        try:
            yield await anext(stream)
        except StopAsyncIteration:
            return
    task = asyncio.create_task(_drain(stream))
    _draining.add(task)
    task.add_done_callback(_draining.discard)


async def _drain(stream: AsyncIterator[Any]) -> None:
    # To close it now would reset it, and the other side might miss that everything was sent. A hostile one never ends.
    with suppress(Exception):
        async with asyncio.timeout(2 * LINGER):
            async for _ in stream:
                pass

"""An asynchronous stream whose source runs ahead of whoever reads it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

Item = TypeVar("Item")


async def buffered(source: AsyncGenerator[Item, None], count: int) -> AsyncIterator[Item]:
    """The items of `source`, up to `count` of which wait here; an error of it comes after them."""
    entries, room = asyncio.Queue[tuple[Item] | BaseException | None](), asyncio.Semaphore(count)

    async def fill() -> None:
        try:
            async for item in source:
                await room.acquire()
                entries.put_nowait((item,))
        except BaseException as error:  # noqa: BLE001 - for whoever reads: a round that ends cancels what it waits for
            entries.put_nowait(error)
        else:
            entries.put_nowait(None)

    filling = asyncio.create_task(fill())
    try:
        while (entry := await entries.get()) is not None:
            if isinstance(entry, BaseException):
                raise entry
            room.release()
            yield entry[0]
    finally:
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)
        await source.aclose()

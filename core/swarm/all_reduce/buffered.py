"""An asynchronous stream whose source runs ahead of whoever reads it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

Item = TypeVar("Item")


async def buffered(source: AsyncGenerator[Item, None], count: int) -> AsyncIterator[Item]:
    """The items of `source`, up to `count` of which wait here; an error of it comes after them."""
    entries = asyncio.Queue[tuple[Item] | Exception | None](count)

    async def fill() -> None:
        try:
            async for item in source:
                await entries.put((item,))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is for whoever reads the stream
            await entries.put(error)
        else:
            await entries.put(None)

    filling = asyncio.create_task(fill())
    try:
        while (entry := await entries.get()) is not None:
            if isinstance(entry, Exception):
                raise entry
            yield entry[0]
    finally:
        filling.cancel()
        await asyncio.gather(filling, return_exceptions=True)
        await source.aclose()

import asyncio
from collections.abc import AsyncGenerator

import pytest

from core.swarm.all_reduce.buffered import buffered
from tests.swarm.in_a_loop import in_a_loop


class Source:
    def __init__(self, count: int, error: Exception | None = None) -> None:
        self.count, self.error = count, error
        self.made, self.is_closed = 0, False

    async def items(self) -> AsyncGenerator[int, None]:
        try:
            for number in range(self.count):
                self.made += 1
                yield number
            if self.error:
                raise self.error
        finally:
            self.is_closed = True


@in_a_loop
async def test_the_source_runs_ahead_by_as_much_as_may_wait() -> None:
    source = Source(100)
    stream = buffered(source.items(), 3)
    assert await anext(stream) == 0
    for _ in range(20):
        await asyncio.sleep(0)
    # Three wait, and one more is made and finds no room.
    assert source.made == 5
    assert [item async for item in stream] == list(range(1, 100))
    assert source.is_closed


@in_a_loop
async def test_an_error_comes_after_what_was_made_before_it() -> None:
    stream = buffered(Source(2, ValueError("broken")).items(), 1)
    assert [await anext(stream), await anext(stream)] == [0, 1]
    with pytest.raises(ValueError, match="broken"):
        await anext(stream)


@in_a_loop
async def test_who_reads_does_not_wait_for_a_source_that_is_cancelled() -> None:
    """As by hivemind's reducer, for what a round that has failed still waits for."""
    averaged = asyncio.get_running_loop().create_future()

    async def waiting() -> AsyncGenerator[int, None]:
        yield 0
        yield await averaged

    stream = buffered(waiting(), 1)
    assert await anext(stream) == 0
    asyncio.get_running_loop().call_later(0.01, averaged.cancel)
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(1.0):
            await anext(stream)


@in_a_loop
async def test_a_stream_that_is_not_read_to_its_end_closes_its_source() -> None:
    source = Source(100)
    stream = buffered(source.items(), 2)
    assert await anext(stream) == 0
    await stream.aclose()  # type: ignore[attr-defined]
    assert source.is_closed
    assert source.made < 10

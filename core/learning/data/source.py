"""Reads shards of any kind of data as an endless stream of samples."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count
from pathlib import Path
from random import Random
from typing import Any, BinaryIO, Protocol

from core.api.errors import WorldError, os_errors_as


class Source(Protocol):
    """A kind of data: reads the samples of one block of a file without the blocks before."""

    block: int
    """Bytes of a block; samples are in order within it."""

    def read(self, file: BinaryIO, begin: int) -> Iterable[Any]:
        """The samples that begin in the block of bytes at `begin`."""


def stream(source: Source, shards: Sequence[Path], seed: int) -> Iterator[Any]:
    """Endless samples: each pass has all of them once, with blocks in a different order.

    The same shards and seed give the same stream. Memory holds one block, and a number for each block that was read.

    Raises:
        WorldError: a shard is missing, or no shard has a sample.
    """
    ends = list(accumulate(-(-size_of(shard) // source.block) for shard in shards))
    for number in count():
        empty = True
        for index in _shuffled(ends[-1] if ends else 0, Random(f"{seed} {number}")):
            shard = bisect_right(ends, index)
            for sample in _read(source, shards[shard], index - (ends[shard - 1] if shard else 0)):
                empty = False
                yield sample
        if empty:
            raise WorldError("data_without_text")


def _shuffled(count: int, chance: Random) -> Iterator[int]:
    """The numbers below `count` in random order (Fisher and Yates): an epoch needs only a few of them."""
    moved = dict[int, int]()
    for left in range(count, 0, -1):
        drawn = chance.randrange(left)
        yield moved.get(drawn, drawn)
        moved[drawn] = moved.pop(left - 1, left - 1)


def once(source: Source, shard: Path) -> Iterator[Any]:
    """The samples of one shard in their order, once.

    Raises:
        WorldError: the shard is missing.
    """
    for index in range(-(-size_of(shard) // source.block)):
        yield from _read(source, shard, index)


def _read(source: Source, shard: Path, index: int) -> list[Any]:
    with os_errors_as("shard_not_readable", path=str(shard)), shard.open("rb") as file:
        return list(source.read(file, index * source.block))


def size_of(path: Path) -> int:
    """Bytes of the file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

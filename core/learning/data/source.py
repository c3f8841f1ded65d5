"""Reads shards of any kind of data as an endless stream of samples."""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, count
from pathlib import Path
from random import Random
from typing import Any, BinaryIO

from core.api.errors import WorldError, os_errors_as


class Source(ABC):
    """A kind of data: reads the samples of one block of a file without the blocks before."""

    @abstractmethod
    def blocks(self, shard: Path) -> int:
        """How many there are."""

    @abstractmethod
    def samples(self, shard: Path, index: int) -> Iterable[Any]:
        """Those of one block, in their order."""

    def check(self, shard: Path) -> None:
        """Of an organiser's shard, before anybody fetches it.

        Raises:
            ManifestError: nobody could learn from it.
        """
        del shard  # most kinds leave out what they cannot read

    def is_ready(self, shard: Path) -> bool:
        """Whether its samples can be read at once."""
        return shard.exists()

    def make_ready(self, shard: Path, make_room: Callable[[int], None], yielding: Callable[[], None]) -> None:
        """Do what takes long once.

        `make_room` is called with the bytes that a file beside the shard will have; `yielding` before each chunk of it:
        it may wait, or raise to stop.

        Raises:
            WorldError: the shard cannot be read.
        """
        del shard, make_room, yielding  # most kinds are read as they are


class ByteBlocks(Source):
    """Files that can be read from any byte on, in blocks of `block` bytes."""

    block: int

    @abstractmethod
    def read(self, file: BinaryIO, begin: int) -> Iterable[Any]:
        """The samples that begin in the block of bytes at `begin`."""

    def plain(self, shard: Path) -> Path:
        """The file that is read."""
        return shard

    def blocks(self, shard: Path) -> int:
        return -(-self.plain(shard).stat().st_size // self.block)

    def samples(self, shard: Path, index: int) -> Iterable[Any]:
        with self.plain(shard).open("rb") as file:
            yield from self.read(file, index * self.block)


def stream(source: Source, shards: Sequence[Path], seed: int) -> Iterator[Any]:
    """Endless samples: each pass has all of them once, with blocks in a different order.

    The same shards and seed give the same stream. Memory holds one block, and a number for each block that was read.

    Raises:
        WorldError: a shard is missing, or no shard has a sample.
    """
    ends = list(accumulate(_blocks(source, shard) for shard in shards))
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
    for index in range(_blocks(source, shard)):
        yield from _read(source, shard, index)


def _blocks(source: Source, shard: Path) -> int:
    with os_errors_as("shard_not_readable", path=str(shard)):
        return source.blocks(shard)


def _read(source: Source, shard: Path, index: int) -> list[Any]:
    with os_errors_as("shard_not_readable", path=str(shard)):
        return list(source.samples(shard, index))


def size_of(path: Path) -> int:
    """Bytes of the file; 0 if there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0

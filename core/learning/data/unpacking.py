"""Unpacks compressed shards into a file beside them, since a compressed one can only be read from its beginning."""

import codecs
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from core.api.errors import ManifestError, WorldError
from core.api.project.data import Compression
from core.learning.data.source import ByteBlocks, size_of
from core.system.atomic_file import write_atomically

SUFFIX = ".unpacked"
_MOST_TIMES = 64
"""Times its size that a file may unpack to. Text unpacks to 3 to 10 times its size."""
_CHUNK = 1 << 20


class PackedBlocks(ByteBlocks):
    """Blocks of files that may be compressed."""

    def __init__(self, compression: Compression) -> None:
        self._compression = compression

    def plain(self, shard: Path) -> Path:
        return unpacked(shard, self._compression)

    def check(self, shard: Path) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for chunk in content(shard, self._compression):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise ManifestError("file_not_unicode", "$.data.shards", path=shard.name) from None
        except WorldError as error:
            raise ManifestError(error.message, "$.data.shards") from error

    def is_ready(self, shard: Path) -> bool:
        return shard.exists() if self._compression == "none" else _is_whole(_beside(shard))

    def make_ready(self, shard: Path, make_room: Callable[[int], None], yielding: Callable[[], None]) -> None:
        unpacked(shard, self._compression, make_room, yielding)


def unpacked(
    shard: Path,
    compression: Compression,
    make_room: Callable[[int], None] = lambda _size: None,
    yielding: Callable[[], None] = lambda: None,
) -> Path:
    """The unpacked file, which is made if there is none; `make_room` is called with its size in bytes before.

    `yielding` is called before each chunk; it may wait, or raise to stop.

    Raises:
        WorldError: the shard is damaged, or unpacks to much more than text does: a decompression bomb.
    """
    if compression == "none":
        return shard
    whole = _beside(shard)
    if not _is_whole(whole):
        # Counted first, so that a limit that is too low is told with the number that would do.
        make_room(sum(map(len, content(shard, compression, yielding))))
        part = whole.with_name(f"{whole.name}.{os.getpid()}")
        try:
            with part.open("wb") as file:
                for chunk in content(shard, compression, yielding):
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            part.replace(whole)
            write_atomically(_size_file(whole), str(whole.stat().st_size).encode())
        finally:
            part.unlink(missing_ok=True)
    return whole


def _beside(shard: Path) -> Path:
    return shard.with_name(f"{shard.name}{SUFFIX}")


def _size_file(whole: Path) -> Path:
    return whole.with_name(f"{whole.name}.size")


def _is_whole(whole: Path) -> bool:
    """Others check what is learned from it: samples of a file that was cut by a power cut would look like a lie."""
    try:
        return whole.stat().st_size == int(_size_file(whole).read_bytes())
    except (FileNotFoundError, ValueError):
        return False


def content(shard: Path, compression: Compression, yielding: Callable[[], None] = lambda: None) -> Iterator[bytes]:
    """What a compressed file has, in chunks; `yielding` as in `unpacked`.

    Raises:
        WorldError: as in `unpacked`.
    """
    import pyarrow as pa  # takes a fifth of a second, and few projects need it

    left = _MOST_TIMES * max(_CHUNK, size_of(shard))
    try:
        with pa.input_stream(shard, compression=compression) as file:
            while chunk := file.read(_CHUNK):
                yielding()
                left -= len(chunk)
                if left < 0:
                    raise WorldError("shard_unpacks_too_large", path=str(shard))
                yield chunk
    except (OSError, pa.ArrowInvalid) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise WorldError("shard_not_readable", path=str(shard), detail=str(error)) from error

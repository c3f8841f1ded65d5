"""Apache Parquet: a row is a sample, of one column with text. Other rows are left out.

A block is a part of a row group. Collections on the Hugging Face Hub usually have groups of a thousand rows.
"""

import mmap
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.api.errors import ManifestError, WorldError
from core.api.project.data import ParquetData
from core.learning.data.parquet_pages import pages
from core.learning.data.source import Source

_ROWS = 1024
"""Of a block."""
_LONGEST = 1 << 20
"""Letters of a text; longer ones are left out."""
_LARGEST_TEXT = 4 * _LONGEST
"""Bytes of a text in UTF-8."""
_MOST_LETTERS = 1 << 26
"""Of a block: few bytes can stand for many equal texts."""
_LARGEST_GROUP = 1 << 27
"""Bytes of the column in one row group, unpacked: a block is read from the beginning of its group."""
_MOST_ROWS = 1 << 16
"""Of a row group, likewise."""
_MOST_FILES = 8
_ENCODINGS = {None, 0, 2, 8}
"""Of pages: PLAIN, and references to a dictionary. In DELTA_BYTE_ARRAY a text can begin like the one before it for a
byte; Arrow decodes neither that nor DELTA_LENGTH_BYTE_ARRAY as a dictionary."""


class ParquetSource(Source):
    def __init__(self, declared: ParquetData) -> None:
        self._column = declared.field
        self._places = lru_cache(_MOST_FILES)(self._found)
        """Group and first row of each block, by file."""

    def blocks(self, shard: Path) -> int:
        return len(self._places(shard))

    def samples(self, shard: Path, index: int) -> Iterator[str]:
        import pyarrow as pa

        group, first = self._places(shard)[index]
        left = _MOST_LETTERS
        try:
            for text in self._texts(shard, group, first):
                left -= len(text)
                if left < 0:
                    raise WorldError("shard_unpacks_too_large", path=str(shard))
                yield text
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(shard, error) from error

    def check(self, shard: Path) -> None:
        try:
            self._found(shard)
        except WorldError as error:
            raise ManifestError(error.message, "$.data.shards") from error

    def _texts(self, shard: Path, group: int, first: int) -> Iterator[str]:
        # As a dictionary: rows that point to one text do not have it once each.
        with _opened(shard, read_dictionary=[self._column]) as file:
            # On this thread alone: how many there may be is for the volunteer to say.
            chosen = {"row_groups": [group], "columns": [self._column], "use_threads": False}
            at, end = 0, first + _ROWS
            for batch in file.iter_batches(batch_size=_ROWS, **chosen):
                rows = batch.column(0)
                if rows.dictionary.nbytes > _LARGEST_GROUP:
                    raise WorldError("shard_unpacks_too_large", path=str(shard))
                yield from _texts_of(rows[max(0, first - at) : max(0, end - at)])
                at += len(batch)
                if at >= end:
                    return

    def _found(self, shard: Path) -> list[tuple[int, int]]:
        import pyarrow as pa

        try:
            with _opened(shard) as file:
                schema, metadata = file.schema_arrow, file.metadata
                if self._column not in schema.names or not _is_text(schema.field(self._column).type):
                    raise ManifestError("column_missing", "$.data.field", column=self._column, path=shard.name)
                place = [metadata.schema.column(number).path for number in range(metadata.num_columns)].index(
                    self._column
                )
                groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
                for group in groups:
                    size = max(group.column(place).total_uncompressed_size, _unpacked(shard, group.column(place)))
                    if size > _LARGEST_GROUP or group.num_rows > _MOST_ROWS:
                        most = {"most_rows": _MOST_ROWS, "most": _LARGEST_GROUP}
                        raise WorldError("row_group_too_large", path=str(shard), rows=group.num_rows, size=size, **most)
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(shard, error) from error
        return [(number, first) for number, group in enumerate(groups) for first in range(0, group.num_rows, _ROWS)]


def _unpacked(shard: Path, column: Any) -> int:
    """Bytes of the column in a row group, by the headers of its pages, as far as they are not too many.

    Raises:
        WorldError: few bytes of a page can stand for much text.
    """
    if column.num_values <= 0:
        return 0
    size, begin = 0, column.data_page_offset
    # As Arrow finds the first page.
    if column.has_dictionary_page and 0 < column.dictionary_page_offset < begin:
        begin = column.dictionary_page_offset
    try:
        with shard.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for number, page in enumerate(pages(content, begin, column.total_compressed_size)):
                size += page.unpacked
                if page.encoding not in _ENCODINGS:
                    raise WorldError("shard_not_readable", path=str(shard), detail=f"encoding {page.encoding}")
                if size > _LARGEST_GROUP or number > _MOST_ROWS:
                    return max(size, _LARGEST_GROUP + 1)
    except (ValueError, LookupError, TypeError) as error:
        raise _unreadable(shard, error) from error
    return size


def _opened(shard: Path, **options: Any) -> Any:
    from pyarrow import parquet  # takes a fifth of a second, and few projects need it

    return parquet.ParquetFile(shard, memory_map=True, **options)


def _texts_of(rows: Any) -> Iterator[str]:
    """The texts that are learned from, one after the other, of a column that is encoded by a dictionary."""
    import pyarrow.compute as pc

    sizes = pc.binary_length(rows.dictionary)
    for number in rows.indices.to_pylist():
        if number is not None and sizes[number].as_py() <= _LARGEST_TEXT:
            text = rows.dictionary[number].as_py()
            if len(text) <= _LONGEST and text.strip():
                yield text


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _unreadable(shard: Path, error: Exception) -> WorldError:
    return WorldError("shard_not_readable", path=str(shard), detail=str(error))

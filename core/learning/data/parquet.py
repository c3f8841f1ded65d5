"""Apache Parquet: a row is a sample, of one column with text. Other rows are left out.

A block is a part of a row group. Collections on the Hugging Face Hub usually have groups of a thousand rows.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from core.api.errors import ManifestError, WorldError
from core.api.project.data import ParquetData
from core.learning.data.source import Source

_ROWS = 1024
"""Of a block."""
_AT_ONCE = 64
_LONGEST = 1 << 20
"""Letters of a text; longer ones are left out."""
_MOST_LETTERS = 1 << 26
"""Of a block: few bytes can stand for many equal texts."""
_LARGEST_GROUP = 1 << 30
"""Bytes of the column in one row group, unpacked."""
_MOST_FILES = 8


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
            for value in self._rows(shard, group, first):
                if isinstance(value, str) and len(value) <= _LONGEST and value.strip():
                    left -= len(value)
                    if left < 0:
                        raise WorldError("shard_unpacks_too_large", path=str(shard))
                    yield value
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(shard, error) from error

    def check(self, shard: Path) -> None:
        try:
            self._found(shard)
        except WorldError as error:
            raise ManifestError(error.message, "$.data.shards") from error

    def _rows(self, shard: Path, group: int, first: int) -> Iterator[Any]:
        at = 0
        with _opened(shard) as file:
            # On this thread alone: how many there may be is for the volunteer to say.
            chosen = {"row_groups": [group], "columns": [self._column], "use_threads": False}
            for batch in file.iter_batches(batch_size=_AT_ONCE, **chosen):
                if at >= first:
                    yield from batch.column(0).to_pylist()
                at += len(batch)
                if at >= first + _ROWS:
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
                if any(group.column(place).total_uncompressed_size > _LARGEST_GROUP for group in groups):
                    raise WorldError("shard_unpacks_too_large", path=str(shard))
        except (pa.ArrowException, OSError) as error:
            raise _unreadable(shard, error) from error
        return [(number, first) for number, group in enumerate(groups) for first in range(0, group.num_rows, _ROWS)]


def _opened(shard: Path) -> Any:
    from pyarrow import parquet  # takes a fifth of a second, and few projects need it

    return parquet.ParquetFile(shard, memory_map=True)


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _unreadable(shard: Path, error: Exception) -> WorldError:
    return WorldError("shard_not_readable", path=str(shard), detail=str(error))

"""A project's data: download, cache with a size limit, and reading. Each kind of data has a file, listed here."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from core.api.project.data import (
    CaptionedCodesData,
    Data,
    ImageTarData,
    JsonLinesData,
    Mixture,
    ParquetData,
    Shards,
    TextData,
)
from core.api.project.fields import File
from core.learning.data.captioned_codes import CaptionedCodesSource
from core.learning.data.image_tar import ImageTarSource
from core.learning.data.json_lines import JsonLinesSource
from core.learning.data.parquet import ParquetSource
from core.learning.data.source import Source, once, stream
from core.learning.data.text import TextSource

_SOURCES: dict[type, Any] = {
    TextData: TextSource,
    JsonLinesData: JsonLinesSource,
    ParquetData: ParquetSource,
    ImageTarData: ImageTarSource,
    CaptionedCodesData: CaptionedCodesSource,
}


@lru_cache(16)
def source_for(declared: Shards) -> Source:
    """The reader of one kind of data; a mixture has several. Always the same one: some remember where samples begin."""
    source: Source = _SOURCES[type(declared)](declared)
    return source


def sources_of(declared: Data) -> list[Source]:
    """The reader of each shard, in the manifest's order."""
    kinds = [part.data for part in declared.parts] if isinstance(declared, Mixture) else [declared]
    return [source for kind in kinds for source in [source_for(kind)] * len(kind.shards)]


def training_samples(declared: Data, shards: Sequence[Path], seed: int, portion: int = 0) -> Iterator[Any]:
    """Endless samples of a portion of the shards, which are in the manifest's order. The same seed gives the same ones.

    Raises:
        WorldError: a shard is missing, or no shard has a sample.
    """
    if not isinstance(declared, Mixture):
        return _of_portion(declared, shards, seed, portion)
    paths = iter(shards)
    parts = [
        _of_portion(part.data, list(islice(paths, len(part.data.shards))), seed, portion) for part in declared.parts
    ]
    return _mixed(parts, [part.weight for part in declared.parts], Random(seed))


def _of_portion(declared: Shards, shards: Sequence[Path], seed: int, portion: int) -> Iterator[Any]:
    portions = declared.portions
    return stream(source_for(declared), [shards[number] for number in portions[portion % len(portions)]], seed)


def _mixed(parts: Sequence[Iterator[Any]], weights: Sequence[float], chance: Random) -> Iterator[Any]:
    while True:
        yield next(chance.choices(parts, weights)[0])


def held_out_samples(declared: Data, path_of: Callable[[File], Path]) -> Callable[[], Iterator[Any]] | None:
    """A function that gives the held-out samples in their order; None if there is no such file."""
    kinds = [part.data for part in declared.parts] if isinstance(declared, Mixture) else [declared]
    files = [(source_for(kind), path_of(kind.held_out)) for kind in kinds if kind.held_out is not None]
    return (lambda: (sample for source, path in files for sample in once(source, path))) if files else None

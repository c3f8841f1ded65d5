"""The kinds of data of a manifest."""

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from core.api.project.fields import File, Text

_PORTION = 16 << 20
"""Bytes: some seconds of a home line."""

Portion = tuple[int, ...]
"""Shards by their numbers, which are learned from at the same time: a peer begins when it has these."""


def portions_of(shards: Sequence[File]) -> tuple[Portion, ...]:
    """Consecutive shards that have 16 MiB together or more; all of them if they have less."""
    ends, size = [0], 0
    for number, shard in enumerate(shards, 1):
        size += shard.size
        if size >= _PORTION:
            ends.append(number)
            size = 0
    # What is left is too little for a portion of its own.
    ends[-1 if len(ends) > 1 else len(ends) :] = [len(shards)]
    return tuple(tuple(range(begin, end)) for begin, end in pairwise(ends))


class Shards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every kind of data has: files to learn from, and one that is only evaluated on."""

    samples: ClassVar[Literal["texts", "pictures", "captioned_codes"]] = "texts"
    shards: Annotated[tuple[File, ...], Meta(min_length=1, max_length=100_000)]
    """Files to learn from; every peer reads them in an order of its own."""
    held_out: File | None = None
    """Never learned from; the backbone evaluates on it."""

    @property
    def portions(self) -> tuple[Portion, ...]:
        """Every peer learns from one after the other; which one it begins with is its own choice."""
        return portions_of(self.shards)


Compression = Literal["none", "gzip", "zstd"]


class TextData(Shards, frozen=True, tag="text"):
    """UTF-8 text, in lines."""

    block: Annotated[int, Meta(ge=256, le=1 << 20)] = 2048
    """Bytes of a text: it has the whole lines of about so many."""
    compression: Compression = "none"
    """Of all files."""


class JsonLinesData(Shards, frozen=True, tag="json_lines"):
    """One JSON object a line, as many text collections are published; each line is a text."""

    field: Text = "text"
    """Of the object, that holds the text."""
    compression: Compression = "none"
    """Of all files."""


class ParquetData(Shards, frozen=True, tag="parquet"):
    """Apache Parquet, as collections on the Hugging Face Hub have it; each row is a text."""

    field: Text = "text"
    """The column that holds the text."""


class ImageTarData(Shards, frozen=True, tag="image_tar"):
    """Pictures in tar files (WebDataset): PNG, JPEG or WebP, with a label in a `.cls` file of the same name if any."""

    samples: ClassVar = "pictures"
    formats: ClassVar[dict[str, str]] = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
    """Names of a picture's format, by the ending of its file."""
    largest: ClassVar[int] = 16 << 20
    """Bytes of a picture in its format."""


class CaptionedCodesData(Shards, frozen=True, tag="captioned_codes"):
    """One JSON object a line: `caption`, and `codes` with the numbers of a picture's codes, row by row."""

    samples: ClassVar = "captioned_codes"
    compression: Compression = "none"
    """Of all files."""


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection of a mixture."""

    weight: Annotated[float, Meta(gt=0, le=1e6)]
    """Its share of the texts is this number divided by the sum of all."""
    data: TextData | JsonLinesData | ParquetData
    """By its type."""


class Mixture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="mixture"):
    """Several collections at once: each next text is from one of them, chosen at random by weight."""

    samples: ClassVar = "texts"
    parts: Annotated[tuple[Part, ...], Meta(min_length=1, max_length=64)]
    """The collections."""

    @property
    def shards(self) -> tuple[File, ...]:
        """Of all parts, in their order."""
        return tuple(shard for part in self.parts for shard in part.data.shards)

    @property
    def portions(self) -> tuple[Portion, ...]:
        """A portion of each part."""
        begins = accumulate((len(part.data.shards) for part in self.parts), initial=0)
        own = [
            [tuple(begin + number for number in portion) for portion in part.data.portions]
            for begin, part in zip(begins, self.parts, strict=False)
        ]
        most = max(map(len, own))
        return tuple(tuple(chain.from_iterable(each[number % len(each)] for each in own)) for number in range(most))


Data = TextData | JsonLinesData | ParquetData | ImageTarData | CaptionedCodesData | Mixture
"""By `type`, `text` if it is missing. How each is read is in `core.learning.data`."""

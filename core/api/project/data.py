"""The kinds of data of a manifest."""

from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from core.api.project.fields import File, Text


class Shards(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    """What every kind of data has: files to learn from, and one that is only evaluated on."""

    is_text: ClassVar[bool] = True
    """Whether the samples are texts."""
    shards: Annotated[tuple[File, ...], Meta(min_length=1, max_length=100_000)]
    """Files to learn from; every peer reads them in an order of its own."""
    held_out: File | None = None
    """Never learned from; the backbone evaluates on it."""


class TextData(Shards, frozen=True, tag="text"):
    """UTF-8 text, in lines."""

    block: Annotated[int, Meta(ge=256, le=1 << 20)] = 2048
    """Bytes of a text: it has the whole lines of about so many."""


class JsonLinesData(Shards, frozen=True, tag="json_lines"):
    """One JSON object a line, as many text collections are published; each line is a text."""

    field: Text = "text"
    """Of the object, that holds the text."""


class ImageTarData(Shards, frozen=True, tag="image_tar"):
    """Pictures in tar files (WebDataset): PNG, JPEG or WebP, with a label in a `.cls` file of the same name if any."""

    is_text: ClassVar[bool] = False


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A collection of a mixture."""

    weight: Annotated[float, Meta(gt=0, le=1e6)]
    """Its share of the texts is this number divided by the sum of all."""
    data: TextData | JsonLinesData
    """By its type."""


class Mixture(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="type", tag="mixture"):
    """Several collections at once: each next text is from one of them, chosen at random by weight."""

    is_text: ClassVar[bool] = True
    parts: Annotated[tuple[Part, ...], Meta(min_length=1, max_length=64)]
    """The collections."""

    @property
    def shards(self) -> tuple[File, ...]:
        """Of all parts, in their order."""
        return tuple(shard for part in self.parts for shard in part.data.shards)


Data = TextData | JsonLinesData | ImageTarData | Mixture
"""By `type`, `text` if it is missing. How each is read is in `core.learning.data`."""

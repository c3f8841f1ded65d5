"""Pictures in tar files, as WebDataset packs them: each picture may have a label in a `.cls` file of the same name.

Files are never unpacked. Where each begins is found out once.
"""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import torch

from core.api.errors import WorldError
from core.api.project.data import ImageTarData
from core.learning.data.source import Source

_FORMATS = ImageTarData.formats
_BLOCK = 8
"""Pictures."""
_LONGEST_LABEL = 16
_MOST_FILES = 64
"""Shards whose places are remembered."""
_MOST_PIXELS = 1 << 25
"""Of a decoded picture: 100 MB as three bytes a pixel."""


@dataclass(frozen=True)
class Picture:
    """A picture that is not decoded yet."""

    content: bytes
    format: str
    label: int | None

    def decoded(self) -> torch.Tensor | None:
        """Its pixels, bytes of the shape (3, height, width); None if it is damaged or too large."""
        from PIL import Image  # with its codecs, only where there are pictures

        try:
            with Image.open(BytesIO(self.content), formats=(self.format,)) as image:
                if image.width * image.height > _MOST_PIXELS:
                    return None
                pixels = image.convert("RGB")
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return None
        flat = torch.frombuffer(bytearray(pixels.tobytes()), dtype=torch.uint8)
        return flat.view(pixels.height, pixels.width, 3).permute(2, 0, 1)


class _Place(NamedTuple):
    """Of a picture in its shard, in bytes."""

    begin: int
    size: int
    format: str
    label: int | None


class ImageTarSource(Source):
    """A block has a few pictures."""

    def __init__(self, _declared: ImageTarData) -> None:
        self._places = lru_cache(_MOST_FILES)(_places)

    def blocks(self, shard: Path) -> int:
        return -(-len(self._places(shard)) // _BLOCK)

    def samples(self, shard: Path, index: int) -> Iterator[Picture]:
        places = self._places(shard)[index * _BLOCK : (index + 1) * _BLOCK]
        with shard.open("rb") as file:
            for place in places:
                file.seek(place.begin)
                yield Picture(file.read(place.size), place.format, place.label)


def _places(shard: Path) -> list[_Place]:
    return list(_found(shard))


def _found(shard: Path) -> Iterator[_Place]:
    """Of each picture that may be read, in their order, with the label in the file of the same name after it."""
    found: tuple[str, _Place] | None = None
    try:
        with tarfile.open(shard, mode="r:") as archive:
            for member in archive:
                path, ordinary = PurePosixPath(member.name), member.isreg() and not member.issparse()
                name, suffix = str(path.with_suffix("")), path.suffix.lower()
                if ordinary and suffix in _FORMATS and member.size <= ImageTarData.largest:
                    if found:
                        yield found[1]
                    found = name, _Place(member.offset_data, member.size, _FORMATS[suffix], None)
                elif ordinary and suffix == ".cls" and found and found[0] == name:
                    yield found[1]._replace(label=_label(archive, member))
                    found = None
    except tarfile.TarError as error:
        raise WorldError("shard_not_readable", path=str(shard), detail=str(error)) from error
    if found:
        yield found[1]


def _label(archive: tarfile.TarFile, member: tarfile.TarInfo) -> int | None:
    file = archive.extractfile(member)
    text = file.read(_LONGEST_LABEL).strip() if file else b""
    return int(text) if text.isdigit() else None

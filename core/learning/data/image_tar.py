"""Pictures in tar files, as WebDataset packs them: each picture may have a label in a `.cls` file of the same name.

Files are read in their order and never unpacked. A shard is read whole, so its pictures should be in random order.
"""

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import BinaryIO

import torch

from core.api.errors import WorldError
from core.api.project.data import ImageTarData

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_LARGEST_FILE = 16 << 20
"""Bytes of a picture in its format."""
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


class ImageTarSource:
    block = 1 << 60
    """A shard is one block."""

    def __init__(self, _declared: ImageTarData) -> None:
        pass

    def read(self, file: BinaryIO, begin: int) -> Iterator[Picture]:
        file.seek(begin)
        found: tuple[str, bytes, str] | None = None
        for name, suffix, content in _files(file):
            if suffix in _FORMATS:
                if found:
                    yield Picture(found[1], found[2], None)
                found = name, content, _FORMATS[suffix]
            elif suffix == ".cls" and found and found[0] == name:
                yield Picture(found[1], found[2], int(content) if content.strip().isdigit() else None)
                found = None
        if found:
            yield Picture(found[1], found[2], None)


def _files(file: BinaryIO) -> Iterator[tuple[str, str, bytes]]:
    """Name without suffix, suffix and content of each ordinary file."""
    try:
        with tarfile.open(fileobj=file, mode="r|") as archive:
            for member in archive:
                path = PurePosixPath(member.name)
                content = archive.extractfile(member) if member.isreg() and member.size <= _LARGEST_FILE else None
                if content is not None:
                    yield str(path.with_suffix("")), path.suffix.lower(), content.read()
    except tarfile.TarError as error:
        raise WorldError("shard_not_readable", path=str(getattr(file, "name", "")), detail=str(error)) from error

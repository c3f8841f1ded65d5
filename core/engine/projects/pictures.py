"""Projects' pictures: fetched once by the engine, checked, and stored in the profile."""

import hashlib
import logging
import struct
from functools import partial
from pathlib import Path

from core.api.errors import UsageError, WorldError
from core.api.project.manifest import File
from core.api.project.projects import Picture
from core.engine.machine.threads import in_thread
from core.engine.projects import fetch
from core.store.projects import Project
from core.system.reach import Reach

LARGEST = 1 << 20
"""Bytes of a picture; a larger one is not shown."""
MOST_PIXELS = 2048
"""In each direction: a small file may contain a very large picture."""

_PNG = b"\x89PNG\r\n\x1a\n"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of frame headers, which have the size in pixels."""
_log = logging.getLogger(__name__)


class Pictures:
    """Stores pictures in a folder under their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, project: Project) -> Picture | None:
        """None if the project has none, or it cannot be fetched or shown."""
        file = project.manifest.picture if project.manifest else None
        if file is None or file.size > LARGEST:
            return None
        try:
            return picture_of(await in_thread(partial(self._read, file, fetch.reach(project)), fetch.SECONDS))
        except (UsageError, WorldError, OSError, TimeoutError) as error:
            _log.info("The picture of %s cannot be shown: %s", project.id, error)
            return None

    def _read(self, file: File, reach: Reach) -> bytes:
        kept = self._folder / file.sha256
        if kept.is_file() and _is_content_of(data := kept.read_bytes(), file):
            return data
        data, _ = fetch.from_url(file.url, LARGEST, reach)
        if not _is_content_of(data, file):
            raise UsageError("file_not_as_described", address=file.url)
        self._folder.mkdir(mode=0o700, exist_ok=True)
        kept.write_bytes(data)
        return data


def picture_of(data: bytes) -> Picture:
    """Check that `data` is a PNG or JPEG of bounded size.

    Raises:
        UsageError: it is not, or too large.
    """
    for name, size in (("png", _png_size(data)), ("jpeg", _jpeg_size(data))):
        if size is None:
            continue
        if not all(0 < length <= MOST_PIXELS for length in size):
            raise UsageError("picture_too_large", most=MOST_PIXELS, given=max(size))
        return Picture("png" if name == "png" else "jpeg", data)
    raise UsageError("picture_format_unknown")


def _is_content_of(data: bytes, file: File) -> bool:
    return len(data) == file.size and hashlib.sha256(data).hexdigest() == file.sha256


def _png_size(data: bytes) -> tuple[int, int] | None:
    if not data.startswith(_PNG) or data[12:16] != b"IHDR" or len(data) < 24:
        return None
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """From the first frame header; the segments before it are skipped by their lengths."""
    if not data.startswith(b"\xff\xd8"):
        return None
    place = 2
    while place + 9 <= len(data) and data[place] == 0xFF:
        marker, length = data[place + 1], int.from_bytes(data[place + 2 : place + 4], "big")
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", data[place + 5 : place + 9])
            return width, height
        place += 2 + max(length, 2)
    return None

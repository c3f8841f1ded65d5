"""Projects' pictures: fetched once by the engine, and stored in the profile."""

import hashlib
import logging
from functools import partial
from pathlib import Path

from core.api.errors import UsageError, WorldError
from core.api.project.fields import File
from core.api.project.projects import Picture
from core.engine.machine.threads import in_thread
from core.engine.projects import fetch
from core.store.projects import Project
from core.system.reach import Reach

LARGEST = 1 << 20
"""Bytes of a picture; a larger one is not shown."""

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
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
    """What `data` begins like; the window unpacks it as that format alone.

    Raises:
        UsageError: it is neither a PNG nor a JPEG.
    """
    if data.startswith(_PNG):
        return Picture("png", data)
    if data.startswith(_JPEG):
        return Picture("jpeg", data)
    raise UsageError("picture_format_unknown")


def _is_content_of(data: bytes, file: File) -> bool:
    return len(data) == file.size and hashlib.sha256(data).hexdigest() == file.sha256

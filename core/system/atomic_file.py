"""Atomic file writes: after a crash or a power cut a file has its old or its new content, never a part."""

import contextlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace the file; only its owner may read it. On return the data is on the disk (fsync), not only in a cache.

    Raises:
        OSError: the file could not be written; the old one is unchanged.
    """
    # mkstemp creates the file with mode 0600.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:  # also when interrupted
        with contextlib.suppress(OSError):
            Path(name).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush the folder's entries to the disk, where the system supports that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

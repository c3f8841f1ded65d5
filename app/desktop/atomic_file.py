"""Writes the whole file or nothing: on an error an older file stays as it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.api.errors import os_errors_as


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The path to write to; that file replaces `path` at the end.

    Raises:
        WorldError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os_errors_as("file_not_written", path=str(path)):
            yield unfinished
            unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)

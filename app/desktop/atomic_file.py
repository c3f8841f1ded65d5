"""Writes the whole file or nothing: on an error an older file stays as it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.api.errors import WorldError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """The path to write to; that file replaces `path` at the end.

    Raises:
        WorldError: it cannot be written.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise WorldError("file_not_written", path=str(path), detail=error.strerror or str(error)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)

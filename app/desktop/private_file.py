"""Files that hold a secret: written atomically and readable only by their owner."""

import os
from pathlib import Path

from app.desktop.atomic_file import replacing
from core.api.errors import UsageError, WorldError, detail_of

_LARGEST = 1 << 16


def write(path: Path, text: str) -> None:
    """Raises WorldError if it cannot be written; an older file is then unchanged."""
    with replacing(path) as unfinished:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)


def read(path: Path) -> str:
    """A small text; only the beginning of a larger one.

    Raises:
        UsageError: there is none, or it is no text.
        WorldError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LARGEST)
    except FileNotFoundError:
        raise UsageError("file_missing", path=str(path)) from None
    except UnicodeDecodeError:
        raise UsageError("file_not_an_identity", path=str(path)) from None
    except OSError as error:
        raise WorldError("file_unreadable", path=str(path), detail=detail_of(error)) from None

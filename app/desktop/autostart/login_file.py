"""The file that starts a program at login: it exists while that is on."""

from dataclasses import dataclass
from pathlib import Path

from app.desktop.atomic_file import replacing
from core.api.errors import os_errors_as


@dataclass(frozen=True)
class LoginFile:
    """`text` is its content."""

    path: Path
    text: str

    @property
    def is_on(self) -> bool:
        return self.path.is_file()

    def set(self, on: bool) -> None:
        """Write or remove it.

        Raises:
            WorldError: the folder cannot be written.
        """
        with os_errors_as("file_not_written", path=str(self.path)):
            if on:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with replacing(self.path) as unfinished:
                    unfinished.write_text(self.text, encoding="utf-8")
            else:
                self.path.unlink(missing_ok=True)

"""The file that starts a program at login: it exists while that is on."""

from dataclasses import dataclass
from pathlib import Path

from core.api.errors import WorldError


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
        try:
            if on:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # Atomic: half a file at login would be worse than none.
                part = self.path.with_name(f"{self.path.name}.part")
                part.write_text(self.text, encoding="utf-8")
                part.replace(self.path)
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise WorldError("file_not_written", path=str(self.path), detail=error.strerror or str(error)) from error

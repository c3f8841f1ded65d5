"""macOS sends links and files that are opened with Idlehive to the running program, not in its arguments."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QFileOpenEvent

from app.desktop.links import OPEN, project_in


class OpenedFiles(QObject):
    """Calls `opened` with the address or file of the project. Install it as event filter of the application."""

    def __init__(self, opened: Callable[[str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._opened = opened

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        if not isinstance(event, QFileOpenEvent):
            return super().eventFilter(watched, event)
        if project := project_in((OPEN, event.file() or event.url().toString())):
            self._opened(project)
        return True

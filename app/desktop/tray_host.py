"""The panel that shows the tray icon: it may start after the program, as at login, and may restart.

Neither tray protocol announces that, so it is polled.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon

EVERY_MS = 3000
PATIENCE = 10.0
"""Seconds that a panel may need to start or restart."""


class TrayHost(QObject):
    """`came`: a panel can show the icon now. `missed`: there has been no panel for `PATIENCE` seconds."""

    came = Signal()
    missed = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        is_there: Callable[[], bool] = QSystemTrayIcon.isSystemTrayAvailable,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._is_there, self._clock = is_there, clock
        self._seen_at = clock()
        self._here, self._told = is_there(), False
        self._timer = QTimer(self)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self.poll)
        self._timer.start()

    def poll(self) -> None:
        """Notice whether the tray has come or gone."""
        now, before = self._clock(), self._here
        self._here = self._is_there()
        if self._here:
            self._seen_at, self._told = now, False
            if not before:
                self.came.emit()
        elif not self._told and now - self._seen_at >= PATIENCE:
            self._told = True
            self.missed.emit()

    def stop(self) -> None:
        self._timer.stop()

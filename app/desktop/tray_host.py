"""The panel that shows the tray icon: it may come after the program, as at login, go away and come back.

Nobody tells of that, in the two protocols that there are, so one looks now and then.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon

EVERY_MS = 3000
PATIENCE = 10.0
"""Seconds for a panel that is starting at login, or starting anew."""


class TrayHost(QObject):
    """`came`: a panel can show the icon that could not before. `missed`: there has been none for a while."""

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

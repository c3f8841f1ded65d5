"""The panel that shows the tray icon: it may start after the program, as at login, and may restart.

Neither tray protocol announces that, so it is polled.
"""

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QSystemTrayIcon

EVERY_MS = 3000
TIMEOUT = 10.0
"""Seconds that a panel may need to start or restart."""


class TrayHost(QObject):
    """`came`: a panel can show the icon now. `missed`: there has been no panel for `TIMEOUT` seconds."""

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
        self._is_here, self._announced = is_there(), False
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self.poll)
        self._timer.start()

    def poll(self) -> None:
        """Notice whether the tray has come or gone."""
        now, before = self._clock(), self._is_here
        self._is_here = self._is_there()
        if self._is_here:
            self._seen_at, self._announced = now, False
            if not before:
                self.came.emit()
        elif not self._announced and now - self._seen_at >= TIMEOUT:
            self._announced = True
            self.missed.emit()

    def stop(self) -> None:
        self._timer.stop()

"""Follows the log files in its own thread, so that a slow disk cannot block the window."""

import threading
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.log.files import Level, Tail, merge, tails, with_levels
from core.client.profile import Profile

_POLL_INTERVAL = 0.4
_AT_ONCE = 512 << 10
"""Bytes of each file in one read."""


class LogReader(QObject):
    """`came` brings lists of `Line`, between `start` and `stop`; the first has what was there already."""

    came = Signal(list)

    def __init__(self, profile: Profile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._profile = profile
        self._tails: dict[Path, Tail] = {}
        self._levels: dict[str, Level] = {}
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Continue where it stopped."""
        if self._thread is not None and self._thread.is_alive() and not self._stopped.is_set():
            return
        before, self._stopped = self._thread, threading.Event()
        self._thread = threading.Thread(
            target=self._follow, args=(self._stopped, before), name="log reader", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def _follow(self, stopped: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # two of them would read the same lines
        while not stopped.is_set():
            lines = merge([(tail.name, tail.read(_AT_ONCE)) for tail in tails(self._profile, self._tails)])
            if lines and not stopped.is_set():
                try:
                    self.came.emit(with_levels(lines, self._levels))
                except RuntimeError:
                    return  # the window was closed meanwhile
            stopped.wait(_POLL_INTERVAL)

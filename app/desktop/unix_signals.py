"""SIGTERM and SIGINT in Qt's loop. Python's own handlers only run when some Python code does, which may be never."""

import signal
import socket
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier


class UnixSignals(QObject):
    """Calls `end` when the process is asked to end."""

    def __init__(self, end: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._end = end
        self._ours, self._pythons = socket.socketpair()
        for side in (self._ours, self._pythons):
            side.setblocking(False)
        signal.set_wakeup_fd(self._pythons.fileno())
        for which in (signal.SIGTERM, signal.SIGINT):
            signal.signal(which, lambda *_: None)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)

    def stop(self) -> None:
        """Restore the earlier handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        for which in (signal.SIGTERM, signal.SIGINT):
            signal.signal(which, signal.SIG_DFL)
        self._ours.close()
        self._pythons.close()

    def _on_signal(self) -> None:
        self._ours.recv(16)
        self._end()

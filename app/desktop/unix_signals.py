"""Unix signals in Qt's loop. Python's own handlers only run when some Python code does, which may be never."""

import signal
import socket
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, QSocketNotifier

_ENDING = (signal.SIGTERM, signal.SIGINT)
_RESTARTING: tuple[signal.Signals, ...] = ()
if sys.platform != "win32":
    _RESTARTING = (signal.SIGUSR1,)


class UnixSignals(QObject):
    """Calls `end` when the process is asked to end, `restart` at SIGUSR1: the files of Idlehive were replaced."""

    def __init__(self, end: Callable[[], None], restart: Callable[[], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._end, self._restart = end, restart
        self._ours, self._pythons = socket.socketpair()
        for side in (self._ours, self._pythons):
            side.setblocking(False)
        signal.set_wakeup_fd(self._pythons.fileno())
        for which in (*_ENDING, *_RESTARTING):
            signal.signal(which, lambda *_: None)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_signal)

    def stop(self) -> None:
        """Restore the earlier handlers."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(-1)
        for which in (*_ENDING, *_RESTARTING):
            signal.signal(which, signal.SIG_DFL)
        self._ours.close()
        self._pythons.close()

    def _on_signal(self) -> None:
        came = self._ours.recv(16)
        (self._end if any(number in came for number in _ENDING) else self._restart)()

"""One window a profile: a second one asks the first to come to the front, and ends."""

import os
import socket
from contextlib import suppress

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer

from core.client.profile import Profile

_ANSWER_SECONDS = 3.0


class SingleInstance(QObject):
    """Held by the first window. `raised` is emitted when another one was started."""

    raised = Signal()

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self._path = str(profile.runtime / "window.sock")
        self._lock = QLockFile(str(profile.runtime / "window.lock"))
        self._lock.setStaleLockTime(0)
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def is_first(self) -> bool:
        """Claim the profile for this window; False if another one has it."""
        return self._lock.tryLock(0)

    def listen(self) -> None:
        """Hear of others from now on. To be called once there is an application, whose loop does the hearing."""
        QLocalServer.removeServer(self._path)
        self._server.listen(self._path)

    def raise_first(self) -> bool:
        """Ask the window that is already there to come to the front; False if it does not answer."""
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.settimeout(_ANSWER_SECONDS)
            connection.connect(os.fspath(self._path))
            return connection.recv(16) == b"here\n"
        return False

    def release(self) -> None:
        """Give the profile back."""
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            other = self._server.nextPendingConnection()
            other.disconnected.connect(other.deleteLater)
            other.write(b"here\n")
            other.disconnectFromServer()
            self.raised.emit()

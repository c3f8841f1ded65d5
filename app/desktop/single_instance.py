"""One window for a profile: a second one raises the first and ends."""

from functools import partial

from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from core.client.profile import Profile

_ANSWER_MS = 3000
_LONGEST_LINE = 16 << 10


class SingleInstance(QObject):
    """Held by the first window. `raised` is emitted when another one was started, `opened` if with a project."""

    raised = Signal()
    opened = Signal(str)

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
        """Listen for other windows from now on; needs a running QApplication."""
        QLocalServer.removeServer(self._path)
        self._server.listen(self._path)

    def raise_first(self, project: str = "") -> bool:
        """Raise the window that runs already, and have it offer `project`; False if it does not answer."""
        connection = QLocalSocket()
        connection.connectToServer(self._path)
        if not connection.waitForConnected(_ANSWER_MS):
            return False
        connection.write(f"{project}\n".encode())
        connection.waitForReadyRead(_ANSWER_MS)
        return connection.readLine().data() == b"here\n"

    def release(self) -> None:
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        while self._server.hasPendingConnections():
            other = self._server.nextPendingConnection()
            other.disconnected.connect(other.deleteLater)
            other.readyRead.connect(partial(self._on_line, other))

    def _on_line(self, other: QLocalSocket) -> None:
        if not other.canReadLine():
            return
        project = bytes(other.readLine(_LONGEST_LINE).data()).decode(errors="replace").strip()
        other.write(b"here\n")
        other.disconnectFromServer()
        self.raised.emit()
        if project:
            self.opened.emit(project)

"""Qt's connection to the engine of this machine, as `core.client.engine_socket` is Python's."""

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QAbstractSocket, QLocalSocket, QTcpSocket

from app.link import engine_process
from core.client.loopback_socket import HOST, Address


class UnixSocket(QLocalSocket):
    """`opened`: the engine is there. `failed`: it cannot be reached; its end is `disconnected`."""

    opened = Signal()
    failed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.connected.connect(self.opened)
        self.errorOccurred.connect(self._on_error)

    @property
    def is_open(self) -> bool:
        return self.state() is QLocalSocket.LocalSocketState.ConnectedState

    @property
    def is_idle(self) -> bool:
        return self.state() is QLocalSocket.LocalSocketState.UnconnectedState

    def call(self, path: Path) -> None:
        """Connect to the engine with this socket."""
        self.connectToServer(str(path))

    def engine_pid(self) -> int | None:
        """The process at the other end; None without a connection."""
        return engine_process.at_other_end(int(self.socketDescriptor()))

    def _on_error(self, error: QLocalSocket.LocalSocketError) -> None:
        if error is not QLocalSocket.LocalSocketError.PeerClosedError:  # after this one, `disconnected` follows
            self.failed.emit()


class LoopbackSocket(QTcpSocket):
    """The same for Windows: nothing is read or sent before the engine has proved that it knows the secret."""

    opened = Signal()
    failed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._address: Address | None = None
        self._expected = b""
        """The engine's proof, until it came."""
        self.connected.connect(self._greet)
        self.readyRead.connect(self._check)
        self.errorOccurred.connect(self._on_error)

    @property
    def is_open(self) -> bool:
        return self.state() is QAbstractSocket.SocketState.ConnectedState and not self._expected

    @property
    def is_idle(self) -> bool:
        return self.state() is QAbstractSocket.SocketState.UnconnectedState

    def call(self, path: Path) -> None:
        """Connect to the engine that has written its address to this path."""
        try:
            self._address = Address.read(path)
        except OSError:
            QTimer.singleShot(0, self, self.failed.emit)
        else:
            self.connectToHost(HOST, self._address.port)

    def engine_pid(self) -> int | None:
        """The process at the other end; None without a connection."""
        return self._address.process if self._address and self.is_open else None

    def canReadLine(self) -> bool:  # noqa: N802 - Qt's name
        return not self._expected and super().canReadLine()

    def _greet(self) -> None:
        if self._address:
            hello, self._expected = self._address.hello()
            self.write(hello)

    def _check(self) -> None:
        if self._expected and super().canReadLine():
            proved, self._expected = self.readLine().data() == self._expected, b""
            if proved:
                self.opened.emit()
            else:
                self.abort()
                self.failed.emit()

    def _on_error(self, error: QAbstractSocket.SocketError) -> None:
        self._expected = b""
        if error is not QAbstractSocket.SocketError.RemoteHostClosedError:
            self.failed.emit()


if sys.platform == "win32":
    EngineSocket = LoopbackSocket
else:
    EngineSocket = UnixSocket

"""Qt's connection to the engine of this machine, as `core.client.engine_socket` is Python's."""

import sys
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QAbstractSocket, QLocalSocket, QTcpSocket

from app.link import engine_process
from core.client.loopback_socket import HOST, Address

_PROOF_MS = 2000
"""The longest that the engine takes to prove itself; after a crash, a silent program may have its port."""
_LONGEST_PROOF = 256


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
        """The engine's proof."""
        self._proved = False
        self._patience = QTimer(self, singleShot=True, interval=_PROOF_MS)
        self._patience.timeout.connect(self._give_up)
        self.connected.connect(self._greet)
        self.readyRead.connect(self._check)
        self.errorOccurred.connect(self._on_error)

    @property
    def is_open(self) -> bool:
        return self.state() is QAbstractSocket.SocketState.ConnectedState and self._proved

    @property
    def is_idle(self) -> bool:
        return self.state() is QAbstractSocket.SocketState.UnconnectedState

    def call(self, path: Path) -> None:
        """Connect to the engine that has written its address to this path."""
        self._proved = False
        try:
            self._address = Address.read(path)
        except OSError:
            QTimer.singleShot(0, self, self.failed.emit)
        else:
            self.setReadBufferSize(_LONGEST_PROOF)
            self._patience.start()
            self.connectToHost(HOST, self._address.port)

    def engine_pid(self) -> int | None:
        """The process at the other end; None without a connection."""
        return self._address.process if self._address and self.is_open else None

    def canReadLine(self) -> bool:  # noqa: N802 - Qt's name
        return self._proved and super().canReadLine()

    def _greet(self) -> None:
        if self._address:
            hello, self._expected = self._address.hello()
            self.write(hello)

    def _check(self) -> None:
        if self._proved or not super().canReadLine():
            return
        self._proved = self.readLine().data() == self._expected
        if self._proved:
            self.setReadBufferSize(0)
            self.opened.emit()
        else:
            self._give_up()

    def _give_up(self) -> None:
        """Leave the stranger; only `failed` says so, since `disconnected` is the end of an engine."""
        if not self._proved and not self.is_idle:
            self.blockSignals(True)
            self.abort()
            self.blockSignals(False)
            self.failed.emit()

    def _on_error(self, error: QAbstractSocket.SocketError) -> None:
        if error is not QAbstractSocket.SocketError.RemoteHostClosedError:
            self.failed.emit()


if sys.platform == "win32":
    EngineSocket = LoopbackSocket
else:
    EngineSocket = UnixSocket

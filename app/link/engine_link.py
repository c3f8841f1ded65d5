"""The window's connection to the engine: it finds and starts the engine and notices its end within two seconds.

Nothing here blocks: the socket is Qt's, and starting the engine (which waits for it to answer) has a thread of its own.
All callbacks and signals come in the window's thread.
"""

import threading
import time
from collections.abc import Callable
from enum import Enum
from typing import Any

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.link import engine_process
from app.link.engine_socket import EngineSocket
from app.link.open_requests import Done, OpenRequests, Refused
from app.text.i18n import tr
from app.text.messages import sentence
from core.api import protocol
from core.api.errors import EngineGone, IdlehiveError
from core.api.machines import Machine
from core.api.message import Message
from core.api.snapshot import Snapshot
from core.client.engine_client import ensure_engine
from core.client.profile import Profile

Words = Callable[[], str]
"""Makes a sentence again after a change of language."""

# Together well below two seconds, the longest that a dead engine may look alive: Qt's timers come up to 5 % late, and
# the window has to be drawn.
_QUIET_MS = 600
_ANSWER_MS = 900
_RECONNECT_MS = 1000
_TERMINATE_MS = 2000
_DYING_SECONDS = 0.5


class Link(Enum):
    STARTING = "starting"
    UP = "up"
    SILENT = "silent"
    """Connected, but without an answer for 1.5 seconds; it may recover."""
    GONE = "gone"


class EngineLink(QObject):
    """One engine of one profile."""

    snapshot_changed = Signal(Snapshot)
    event_came = Signal(protocol.Event)
    link_changed = Signal(Link, str)
    """The new state, and a sentence for SILENT and GONE."""
    _start_ended = Signal(object)

    def __init__(self, profile: Profile, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.state = Link.STARTING
        self.snapshot: Snapshot | None = None
        self._words: Words = str
        self.profile = profile
        self._requests = OpenRequests()
        self._may_start = False
        self._starting = False
        self._ending = False
        self._socket = EngineSocket(self)
        self._socket.opened.connect(self._on_connected)
        self._socket.disconnected.connect(self._on_disconnected)
        self._socket.failed.connect(self._on_failed)
        self._socket.readyRead.connect(self._on_ready_read)
        self._start_ended.connect(self._on_start_ended)
        self._quiet = self._timer(_QUIET_MS, self._ping)
        self._silence = self._timer(_ANSWER_MS, self._on_silence)
        self._reconnect = self._timer(_RECONNECT_MS, self._connect)

    @property
    def machine(self) -> Machine | None:
        """The other machine whose engine it is; None: this one."""
        return self.profile.machine

    @property
    def sentence(self) -> str:
        """Why it is SILENT or GONE, in the current language; else empty."""
        return self._words()

    def open(self) -> None:
        """Connect, and start the engine if none is running."""
        self._may_start = True
        self._change(Link.STARTING)
        self._connect()

    def restart(self) -> None:
        """Start the engine again; kill one that hangs first."""
        hung = self._socket.engine_pid()
        if hung is None:
            self.open()
            return
        self._may_start = True
        self._change(Link.STARTING)
        engine_process.end(hung)
        QTimer.singleShot(_TERMINATE_MS, self, lambda: self._end_if_still(hung))

    def close(self) -> None:
        """Close the connection; the engine continues. Open requests are dropped."""
        self._ending = True
        for timer in (self._quiet, self._silence, self._reconnect):
            timer.stop()
        self._requests.forget()
        self._socket.abort()

    def discard(self) -> None:
        """Close it for good."""
        self.close()
        self.deleteLater()

    def ask(
        self, command: protocol.Command, done: Done | None = None, refused: Refused | None = None, kind: Any = None
    ) -> None:
        """Have `command` carried out.

        `done` gets the result as a `kind` (Any form if None), `refused` a sentence; exactly one of them is called once.
        """
        if not self._socket.is_open:
            if refused:
                refused(tr("The engine is not running."))
            return
        number = self._requests.add(kind, done, refused)
        self._socket.write(protocol.encode(protocol.Request(number, command)))
        self._socket.flush()

    def forget_requests(self) -> None:
        """Drop open requests: the widgets that sent them are gone."""
        self._requests.forget()

    def quit_engine(self, done: Callable[[], None]) -> None:
        """End the session and the engine. `done` is called at the end, or when the engine no longer answers."""
        self._ending = True
        self.ask(protocol.Quit(), lambda _: done(), lambda _: done())

    def _connect(self) -> None:
        if self._starting or not self._socket.is_idle:
            return
        if engine_process.is_of_another_user(self.profile):
            foreign = Message("socket_of_another_user", {"path": str(self.profile.socket)})
            self._change(Link.GONE, lambda: sentence(foreign))
            return
        self._socket.call(self.profile.socket)

    def _on_connected(self) -> None:
        self._may_start = False
        self._reconnect.stop()
        self.ask(protocol.Subscribe())
        self._silence.start()

    def _on_disconnected(self) -> None:
        self._lose(lambda: tr("The engine has ended."))

    def _on_failed(self) -> None:
        self._lose(lambda: tr("The engine is not running."))

    def _lose(self, words: Words) -> None:
        """Without a connection: start the engine if that was requested, else offer it and watch the socket."""
        self._drop_requests(words)
        if self._ending:
            return
        if self._may_start:
            self._start_engine()
        else:
            self._change(Link.GONE, self._words if self.state is Link.GONE else words)
            self._reconnect.start()

    def _drop_requests(self, words: Words) -> None:
        self._quiet.stop()
        self._silence.stop()
        self._requests.refuse_all(words())

    def _start_engine(self) -> None:
        self._may_start, self._starting = False, True
        threading.Thread(target=self._start_in_thread, name="engine start", daemon=True).start()

    def _start_in_thread(self) -> None:
        try:
            try:
                ensure_engine(self.profile)
            except EngineGone:  # connected to the old one while it was ending
                time.sleep(_DYING_SECONDS)
                ensure_engine(self.profile)
        except IdlehiveError as error:
            self._start_ended.emit(error.message)
        else:
            self._start_ended.emit(None)

    def _on_start_ended(self, error: Message | None) -> None:
        self._starting = False
        if self._ending:
            return
        if error:
            self._change(Link.GONE, lambda: sentence(error))
            self._reconnect.start()
        else:
            self._connect()

    def _on_ready_read(self) -> None:
        while self._socket.canReadLine():
            received = self._socket.readLine().data()
            try:
                message = protocol.engine_decoder.decode(received)
            except msgspec.DecodeError:
                self._drop(self._other_version)
                return
            self._note_answer()
            self._handle(message)
        if self._socket.bytesAvailable() > protocol.LONGEST_LINE:
            self._drop(self._too_much)

    def _handle(self, message: protocol.EngineMessage) -> None:
        match message:
            case Snapshot():
                self._show_snapshot(message)
            case protocol.Event():
                self.event_came.emit(message)
            case protocol.Reply(id=number, result=result):
                self._requests.answer(number, result)
            case protocol.Refusal(id=number, error=error):
                self._requests.refuse(number, sentence(error))

    def _note_answer(self) -> None:
        self._silence.stop()
        self._quiet.start()
        if self.state is not Link.UP:
            self._change(Link.UP)

    def _show_snapshot(self, snapshot: Snapshot) -> None:
        if snapshot != self.snapshot:
            self.snapshot = snapshot
            self.snapshot_changed.emit(snapshot)

    def _ping(self) -> None:
        self.ask(protocol.GetSnapshot(), self._show_snapshot, kind=Snapshot)
        self._silence.start()

    def _on_silence(self) -> None:
        self._change(Link.SILENT, lambda: tr("The engine does not answer."))

    def _drop(self, words: Words) -> None:
        self._socket.blockSignals(True)
        self._socket.abort()
        self._socket.blockSignals(False)
        self._quiet.stop()
        self._change(Link.GONE, words)

    def _other_version(self) -> str:
        return tr("The engine is of another version than this window: quit both and start again.")

    def _too_much(self) -> str:
        return self._other_version()

    def _change(self, state: Link, words: Words = str) -> None:
        if state is not Link.UP:
            self.snapshot = None
        if (state, words()) != (self.state, self.sentence):
            self.state, self._words = state, words
            self.link_changed.emit(state, words())

    def _end_if_still(self, pid: int) -> None:
        if self._socket.engine_pid() == pid:
            engine_process.kill(pid)

    def _timer(self, milliseconds: int, then: Callable[[], None]) -> QTimer:
        timer = QTimer(self, singleShot=True, interval=milliseconds)
        timer.timeout.connect(then)
        return timer

"""The window's connection to the engine of another machine, over SSH. A lost connection is taken up again."""

import threading
from contextlib import suppress

from PySide6.QtCore import QObject, Signal

from app.link.engine_link import EngineLink, Link
from app.text.messages import sentence
from core.api.errors import IdlehiveError
from core.api.machines import Machine
from core.api.message import Message
from core.client import ssh
from core.client.profile import Profile

_ANSWER_MS = 5_000
"""A line across the world may take that long."""
_FIRST_WAIT_MS, _LONGEST_WAIT_MS = 1_000, 60_000
_FOR_A_PERSON = frozenset(
    {
        "machine_host_changed",
        "machine_host_unknown",
        "machine_key_refused",
        "machine_too_old",
        "machine_without_idlehive",
        "ssh_missing",
    }
)
"""Failures that only a person can mend. Servers lock out clients that repeat a key that was refused."""


class RemoteLink(EngineLink):
    """The engine of one machine. It is not started there unless the volunteer asks for it (`restart`)."""

    _opened = Signal(object)
    """A `Tunnel`, or the `Message` that says why there is none or no longer one. Ends `_starting`: a thread is busy."""

    def __init__(self, profile: Profile, machine: Machine, parent: QObject | None = None) -> None:
        super().__init__(profile.at(machine), parent)
        self._machine = machine
        self._tunnel: ssh.Tunnel | None = None
        self._failures = 0
        self._start_there = False
        self._discarded = False
        self._silence.setInterval(_ANSWER_MS)
        self._opened.connect(self._on_opened)
        self.snapshot_changed.connect(self._forget_failures)

    def open(self) -> None:
        self._change(Link.STARTING)
        self._connect()

    def restart(self) -> None:
        """Connect now, and start the engine there if none is running."""
        self._start_there = True
        self._reconnect.stop()
        self._drop_requests(lambda: self.sentence)
        self._close_tunnel()
        self._socket.abort()
        self.open()

    def close(self) -> None:
        self._close_tunnel()  # first: nobody asks why a connection is lost that was closed
        super().close()

    def discard(self) -> None:
        self.close()
        self._discarded = True
        if not self._starting:  # what its thread brings has to be closed
            self.deleteLater()

    def _connect(self) -> None:
        if not self._starting:
            self._starting = True
            start, self._start_there = self._start_there, False
            threading.Thread(target=self._connect_in_thread, args=(start,), name="ssh", daemon=True).start()

    def _connect_in_thread(self, start: bool) -> None:
        found: ssh.Tunnel | Message
        try:
            found = ssh.connect(self._machine, start)
        except IdlehiveError as error:
            found = error.message
        if not self._tell(found) and isinstance(found, ssh.Tunnel):
            found.close()

    def _end_in_thread(self, tunnel: ssh.Tunnel) -> None:
        failure = tunnel.failure().message
        tunnel.close()
        self._tell(failure)

    def _tell(self, found: ssh.Tunnel | Message) -> bool:
        with suppress(RuntimeError):  # the window is gone
            self._opened.emit(found)
            return True
        return False

    def _on_opened(self, found: ssh.Tunnel | Message) -> None:
        self._starting = False
        if isinstance(found, Message):
            self._fail(found)
        elif self._ending:
            _close(found)
        else:
            self._tunnel = found
            self._socket.setSocketDescriptor(found.connection.detach())
            self._on_connected()
        if self._discarded:
            self.deleteLater()

    def _on_disconnected(self) -> None:
        if self._tunnel is not None:
            tunnel, self._tunnel, self._starting = self._tunnel, None, True
            threading.Thread(target=self._end_in_thread, args=(tunnel,), name="ssh").start()

    def _fail(self, failure: Message) -> None:
        self._drop_requests(lambda: sentence(failure))
        if self._ending:
            return
        self._change(Link.GONE, lambda: sentence(failure))
        if failure.kind not in _FOR_A_PERSON:
            self._failures += 1
            self._reconnect.start(min(_LONGEST_WAIT_MS, _FIRST_WAIT_MS * 2 ** min(self._failures - 1, 10)))

    def _forget_failures(self) -> None:
        self._failures = 0

    def _other_version(self) -> str:
        return sentence(self._tunnel.other_version().message) if self._tunnel else ""

    def _too_much(self) -> str:
        return sentence(self._tunnel.too_much().message) if self._tunnel else ""

    def _close_tunnel(self) -> None:
        if self._tunnel is not None:
            _close(self._tunnel)
            self._tunnel = None


def _close(tunnel: ssh.Tunnel) -> None:
    """In a thread, which the program waits for at its end: ssh may take seconds."""
    threading.Thread(target=tunnel.close, name="ssh").start()

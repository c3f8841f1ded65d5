"""Idle time from a Wayland compositor: the protocol ext-idle-notify-v1, spoken on the compositor's socket.

The compositor sends an event after a second without input and when input returns; this counts the time between.
Protocol: wayland.app/protocols/ext-idle-notify-v1. KWin, sway and Hyprland support it, Mutter does not.
"""

import errno
import os
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

from core.api.errors import detail_of
from core.conditions.source import RETRY, NotAvailable, connected

TIMEOUT = 1.0
"""Seconds for one answer."""
_SECOND = 1000
_DISPLAY, _REGISTRY, _CALLBACK, _SEAT, _NOTIFIER, _NOTIFICATION = 1, 2, 3, 4, 5, 6
"""Object ids; the client chooses those after the first."""
_SYNC, _GET_REGISTRY, _BIND, _GET_IDLE_NOTIFICATION, _GET_INPUT_IDLE_NOTIFICATION = 0, 1, 0, 1, 2
_ERROR, _GLOBAL, _IDLED, _RESUMED = 0, 0, 0, 1


class IdleNotify:
    """Connects on first use, and again after the connection was lost."""

    name = "Wayland (ext-idle-notify)"
    retry = RETRY

    def __init__(self, tick: Callable[[], float]) -> None:
        self._tick = tick
        self._notification: _Notification | None = None

    def read(self) -> float:
        """Seconds since the last input; less than one counts as 0. Raises NotAvailable."""
        try:
            if self._notification is None:
                self._notification = _subscribed(self._tick)
            return self._notification.idle()
        except (OSError, struct.error) as error:
            self.close()
            raise NotAvailable("compositor_silent", detail=detail_of(error)) from None
        except NotAvailable:
            self.close()
            raise

    def close(self) -> None:
        if self._notification is not None:
            self._notification.close()
            self._notification = None


class _Notification:
    """A connection that has requested the idle events. Methods may raise OSError, struct.error and NotAvailable."""

    def __init__(self, connection: socket.socket, tick: Callable[[], float]) -> None:
        self._socket = connection
        self._tick = tick
        self._unread = b""
        self._idle_since: float | None = None

    def close(self) -> None:
        self._socket.close()

    def subscribe(self) -> None:
        self._send(_DISPLAY, _GET_REGISTRY, struct.pack("=I", _REGISTRY))
        self._send(_DISPLAY, _SYNC, struct.pack("=I", _CALLBACK))
        offered = dict(self._globals())
        if "ext_idle_notifier_v1" not in offered or "wl_seat" not in offered:
            raise NotAvailable("compositor_without_idle")
        number, version = offered["ext_idle_notifier_v1"]
        self._bind(offered["wl_seat"][0], "wl_seat", 1, _SEAT)
        self._bind(number, "ext_idle_notifier_v1", min(version, 2), _NOTIFIER)
        # Version 2 can report input alone; version 1 also counts a playing video as presence.
        ask = _GET_INPUT_IDLE_NOTIFICATION if version >= 2 else _GET_IDLE_NOTIFICATION
        self._send(_NOTIFIER, ask, struct.pack("=III", _NOTIFICATION, _SECOND, _SEAT))

    def idle(self) -> float:
        """Seconds."""
        for sender, opcode, _ in self._events(wait=False):
            if sender == _NOTIFICATION:
                self._idle_since = self._tick() - _SECOND / 1000 if opcode == _IDLED else None
        return 0.0 if self._idle_since is None else self._tick() - self._idle_since

    def _globals(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """Name, id and version of every global that the compositor offers."""
        while True:
            for sender, opcode, body in self._events(wait=True):
                if sender == _CALLBACK:
                    return
                if (sender, opcode) == (_REGISTRY, _GLOBAL):
                    number, length = struct.unpack_from("=II", body)
                    interface = body[8 : 8 + length - 1].decode(errors="replace")
                    yield interface, (number, struct.unpack_from("=I", body, 8 + length + -length % 4)[0])

    def _events(self, *, wait: bool) -> Iterator[tuple[int, int, bytes]]:
        """Object, opcode and arguments of the events that arrived; with `wait`, at least one."""
        self._receive(wait=wait)
        while len(self._unread) >= 8:
            sender, word = struct.unpack_from("=II", self._unread)
            length = max(word >> 16, 8)
            if len(self._unread) < length:
                return
            body, self._unread = self._unread[8:length], self._unread[length:]
            if (sender, word & 0xFFFF) == (_DISPLAY, _ERROR):
                raise NotAvailable("compositor_refuses")
            yield sender, word & 0xFFFF, body

    def _receive(self, *, wait: bool) -> None:
        self._socket.settimeout(TIMEOUT if wait else 0)
        try:
            while part := self._socket.recv(4096):
                self._unread += part
                self._socket.settimeout(0)
            raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
        except BlockingIOError:
            self._socket.settimeout(TIMEOUT)

    def _bind(self, number: int, interface: str, version: int, new: int) -> None:
        text = interface.encode() + b"\0"
        padded = text + bytes(-len(text) % 4)
        self._send(_REGISTRY, _BIND, struct.pack("=II", number, len(text)) + padded + struct.pack("=II", version, new))

    def _send(self, receiver: int, opcode: int, body: bytes) -> None:
        self._socket.sendall(struct.pack("=II", receiver, (8 + len(body)) << 16 | opcode) + body)


def _subscribed(tick: Callable[[], float]) -> _Notification:
    notification = _Notification(_connect(), tick)
    try:
        notification.subscribe()
    except BaseException:  # however it ends, nothing else would close the connection
        notification.close()
        raise
    return notification


def _connect() -> socket.socket:
    name = os.environ.get("WAYLAND_DISPLAY")
    if not name:
        raise NotAvailable("variable_missing", variable="WAYLAND_DISPLAY")
    return connected(str(Path(os.environ.get("XDG_RUNTIME_DIR", "/")) / name), TIMEOUT)

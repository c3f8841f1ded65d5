"""The few X requests that sensors need, in the X protocol on the server's local socket.

Not through libX11: that library ends the whole process when the server exits, and the engine outlives desktops.
X Window System Protocol, X Version 11, Release 7.7 (www.x.org/releases/X11R7.7/doc/xproto/x11protocol.html).
"""

import errno
import os
import re
import select
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from core.api.errors import detail_of
from core.conditions.idle.x11_alarm import Extension, InputAlarm
from core.conditions.source import NotAvailable, connected

Answer = TypeVar("Answer")

TIMEOUT = 1.0
"""Seconds for one answer."""
_COOKIE = b"MIT-MAGIC-COOKIE-1"
_LOCAL, _ANY = 256, 65535  # families of addresses in the authority file
_CHANGE_WINDOW_ATTRIBUTES, _INTERN_ATOM, _GET_PROPERTY, _QUERY_EXTENSION = 2, 16, 20, 98
_ERROR, _REPLY, _PROPERTY_NOTIFY, _GENERIC_EVENT = 0, 1, 28, 35
_EVENT_MASK, _PROPERTY_CHANGE = 1 << 11, 1 << 22


class X11:
    """The display of this session; connects on first use, and again after the connection was lost."""

    def __init__(self) -> None:
        self._display: Display | None = None

    def ask(self, question: Callable[["Display"], Answer]) -> Answer:
        """What the display answers. After one that failed to, the next question connects again.

        Raises:
            NotAvailable: there is no display, it refuses the connection, or does not answer.
        """
        failure = "display_unreachable"
        try:
            self._display = self._display or Display(_local_number(os.environ.get("DISPLAY", "")))
            failure = "display_silent"
            return question(self._display)
        except (OSError, struct.error) as error:
            self.close()
            raise NotAvailable(failure, detail=detail_of(error)) from None

    def close(self) -> None:
        if self._display is not None:
            self._display.close()
            self._display = None

    @property
    def files(self) -> list[int]:
        """Descriptors to wait on, until `heard` says something."""
        return [] if self._display is None else [self._display.file]

    def heard(self) -> bool:
        """Whether the display has told of a change since the last call. Does not wait."""
        try:
            return self._display is not None and self._display.heard()
        except (OSError, struct.error):
            self.close()
            return True

    @property
    def announces_input(self) -> bool:
        """Whether `heard` also says that the volunteer came back."""
        return self._display is not None and self._display.input_alarm is not None


class Display:
    """One connection. Every method may raise OSError (gone, too slow) or struct.error (not an X server)."""

    def __init__(self, number: int) -> None:
        self._atoms: dict[str, int] = {}
        self._sequence, self._heard = 0, False
        self._watched: int | None = None
        self.input_alarm: InputAlarm | None = None
        """Rings when input follows half a second without; None if the server cannot."""
        # Where X servers are by convention.
        self._socket = connected(f"/tmp/.X11-unix/X{number}", TIMEOUT)  # noqa: S108
        try:
            self.root = self._set_up(*_credentials(number))
            self.input_alarm = InputAlarm.made(self.extension("SYNC"), self._id_base + 1, self.request)
        except BaseException:  # however it ends, nothing else would close the connection
            self._socket.close()
            raise

    def close(self) -> None:
        self._socket.close()

    @cached_property
    def is_xwayland(self) -> bool:
        return self.extension("XWAYLAND") is not None

    @cached_property
    def _screen_saver(self) -> int | None:
        extension = self.extension("MIT-SCREEN-SAVER")
        return None if extension is None else extension.opcode

    @property
    def file(self) -> int:
        return self._socket.fileno()

    def heard(self) -> bool:
        """Whether an event that matters has come since the last call. Does not wait."""
        while select.select([self._socket], [], [], 0)[0]:
            self._note(self._answer())
        heard, self._heard = self._heard, False
        return heard

    def watch(self, window: int) -> None:
        """Watch the properties of this window instead of those of the window before."""
        if window == self._watched:
            return
        for changed, mask in ((self.root, _PROPERTY_CHANGE), (self._watched, 0), (window, _PROPERTY_CHANGE)):
            if changed:
                self._send(_request(_CHANGE_WINDOW_ATTRIBUTES, struct.pack("<III", changed, _EVENT_MASK, mask)))
        self._watched = window

    def idle(self) -> float | None:
        """Seconds since the last input; None if the server has no MIT-SCREEN-SAVER extension (QueryInfo)."""
        if self._screen_saver is None:
            return None
        reply = self.request(struct.pack("<BBHI", self._screen_saver, 1, 2, self.root))
        return int(struct.unpack_from("<I", reply, 16)[0]) / 1000

    def atom(self, name: str) -> int:
        """The atom of a name."""
        if name not in self._atoms:
            reply = self.request(_request(_INTERN_ATOM, _name(name)))
            self._atoms[name] = int(struct.unpack_from("<I", reply, 8)[0])
        return self._atoms[name]

    def numbers(self, window: int, name: str) -> tuple[int, ...]:
        """A window's property of 32-bit numbers; empty if it, or the window, is not there."""
        reply = self._property(window, name, 32)
        return struct.unpack(f"<{len(reply) // 4}I", reply)

    def text(self, window: int, name: str) -> str:
        """A window's property of bytes; empty if it, or the window, is not there."""
        return self._property(window, name, 8).decode(errors="replace")

    def _property(self, window: int, name: str, bits: int) -> bytes:
        """The first kilobyte of a property with elements of `bits` bits."""
        wanted = struct.pack("<IIIII", window, self.atom(name), 0, 0, 256)
        reply = self.request(_request(_GET_PROPERTY, wanted))
        if not reply or reply[1] != bits:
            return b""
        length = struct.unpack_from("<I", reply, 16)[0] * bits // 8
        return reply[32 : 32 + length]

    def extension(self, name: str) -> Extension | None:
        reply = self.request(_request(_QUERY_EXTENSION, _name(name)))
        present, opcode, first_event = struct.unpack_from("<BBB", reply, 8)
        return Extension(opcode, first_event) if present else None

    def request(self, request: bytes, *, replies: bool = True) -> bytes:
        """The reply; empty bytes after an error, as for a window that has just been closed."""
        self._send(request)
        own = self._sequence & 0xFFFF
        while replies:
            answer = self._answer()
            # An error may be of a request before this one that has no reply.
            if answer[0] in (_ERROR, _REPLY) and struct.unpack_from("<H", answer, 2)[0] == own:
                return answer if answer[0] == _REPLY else b""
            self._note(answer)
        return b""

    def _send(self, request: bytes) -> None:
        self._socket.sendall(request)
        self._sequence += 1

    def _answer(self) -> bytes:
        answer = self._receive(32)
        if answer[0] in (_REPLY, _GENERIC_EVENT):
            answer += self._receive(4 * struct.unpack_from("<I", answer, 4)[0])
        return answer

    def _note(self, event: bytes) -> None:
        """Some events go to every client, and titles of windows change all the time."""
        kind, alarm = event[0] & 0x7F, self.input_alarm
        if kind == _PROPERTY_NOTIFY:
            self._heard |= struct.unpack_from("<I", event, 8)[0] in self._atoms.values()
        elif alarm is not None and kind == alarm.event:
            self._heard = True
            alarm.set_again()

    def _set_up(self, name: bytes, data: bytes) -> int:
        """Set up the connection; returns the root window of the first screen."""
        greeting = struct.pack("<cxHHHHxx", b"l", 11, 0, len(name), len(data))
        self._socket.sendall(greeting + _padded(name) + _padded(data))
        status, length = struct.unpack("<B5xH", self._receive(8))
        body = self._receive(4 * length)
        if status != 1:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        self._id_base, vendor, formats = struct.unpack_from("<4xI8xH3xB", body)
        return int(struct.unpack_from("<I", body, 32 + len(_padded(b" " * vendor)) + 8 * formats)[0])

    def _receive(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            part = self._socket.recv(length - len(data))
            if not part:
                raise ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
            data += part
        return data


def _local_number(display: str) -> int:
    if not display:
        raise NotAvailable("variable_missing", variable="DISPLAY")
    local = re.fullmatch(r"(?:unix)?:(\d+)(?:\.\d+)?", display)
    if local is None:
        raise NotAvailable("display_elsewhere", display=display)
    return int(local[1])


def _credentials(number: int) -> tuple[bytes, bytes]:
    """Name and data of the display's cookie; empty if there is none, which some servers accept."""
    file = Path(os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority")
    host, own_number = socket.gethostname().encode(), str(number).encode()
    with suppress(OSError, struct.error):
        for family, address, display, name, data in _entries(file.read_bytes()):
            is_here = family == _ANY or (family == _LOCAL and address == host)
            if is_here and name == _COOKIE and display in (b"", own_number):
                return name, data
    return b"", b""


def _entries(authority: bytes) -> Iterator[tuple[int, bytes, bytes, bytes, bytes]]:
    """Family, address, display number, name and data of each entry of the authority file."""
    file = BytesIO(authority)

    def field() -> bytes:
        (length,) = struct.unpack(">H", file.read(2))
        return file.read(length)

    while family := file.read(2):
        yield int.from_bytes(family), field(), field(), field(), field()


def _request(opcode: int, body: bytes) -> bytes:
    body = _padded(body)
    return struct.pack("<BxH", opcode, 1 + len(body) // 4) + body


def _name(text: str) -> bytes:
    return struct.pack("<HH", len(text), 0) + text.encode()


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)

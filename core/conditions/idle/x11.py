"""The few X requests that sensors need, in the X protocol on the server's local socket.

Not through libX11: that library ends the whole process when the server exits, and the engine outlives desktops.
X Window System Protocol, X Version 11, Release 7.7 (www.x.org/releases/X11R7.7/doc/xproto/x11protocol.html).
"""

import os
import re
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TypeVar

from core.conditions.source import NotAvailable, connected

Answer = TypeVar("Answer")

TIMEOUT = 1.0
"""Seconds for one answer."""
_COOKIE = b"MIT-MAGIC-COOKIE-1"
_LOCAL, _ANY = 256, 65535  # families of addresses in the authority file
_INTERN_ATOM, _GET_PROPERTY, _QUERY_EXTENSION = 16, 20, 98
_ERROR, _REPLY, _GENERIC_EVENT = 0, 1, 35


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
            raise NotAvailable(failure, detail=str(error)) from None

    def close(self) -> None:
        if self._display is not None:
            self._display.close()
            self._display = None


class Display:
    """One connection. Every method may raise OSError (gone, too slow) or struct.error (not an X server)."""

    def __init__(self, number: int) -> None:
        self._atoms: dict[str, int] = {}
        # Where X servers are by convention.
        self._socket = connected(f"/tmp/.X11-unix/X{number}", TIMEOUT)  # noqa: S108
        try:
            self.root = self._set_up(*_credentials(number))
        except BaseException:  # however it ends, nothing else would close the connection
            self._socket.close()
            raise

    def close(self) -> None:
        self._socket.close()

    @cached_property
    def is_xwayland(self) -> bool:
        return self._extension("XWAYLAND") is not None

    @cached_property
    def _screen_saver(self) -> int | None:
        return self._extension("MIT-SCREEN-SAVER")

    def idle(self) -> float | None:
        """Seconds since the last input; None if the server has no MIT-SCREEN-SAVER extension (QueryInfo)."""
        if self._screen_saver is None:
            return None
        reply = self._ask(struct.pack("<BBHI", self._screen_saver, 1, 2, self.root))
        return int(struct.unpack_from("<I", reply, 16)[0]) / 1000

    def atom(self, name: str) -> int:
        """The atom of a name."""
        if name not in self._atoms:
            reply = self._ask(_request(_INTERN_ATOM, _name(name)))
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
        reply = self._ask(_request(_GET_PROPERTY, wanted))
        if not reply or reply[1] != bits:
            return b""
        length = struct.unpack_from("<I", reply, 16)[0] * bits // 8
        return reply[32 : 32 + length]

    def _extension(self, name: str) -> int | None:
        reply = self._ask(_request(_QUERY_EXTENSION, _name(name)))
        present, opcode = struct.unpack_from("<BB", reply, 8)
        return int(opcode) if present else None

    def _ask(self, request: bytes) -> bytes:
        """The reply; empty bytes after an error, as for a window that has just been closed."""
        self._socket.sendall(request)
        while True:
            answer = self._receive(32)
            if answer[0] in (_REPLY, _GENERIC_EVENT):
                answer += self._receive(4 * struct.unpack_from("<I", answer, 4)[0])
            # Anything else is an event; some go to every client.
            if answer[0] in (_ERROR, _REPLY):
                return answer if answer[0] == _REPLY else b""

    def _set_up(self, name: bytes, data: bytes) -> int:
        """Set up the connection; returns the root window of the first screen."""
        greeting = struct.pack("<cxHHHHxx", b"l", 11, 0, len(name), len(data))
        self._socket.sendall(greeting + _padded(name) + _padded(data))
        status, length = struct.unpack("<B5xH", self._receive(8))
        body = self._receive(4 * length)
        if status != 1:
            raise PermissionError("it refuses us")
        vendor, formats = struct.unpack_from("<16xH3xB", body)
        return int(struct.unpack_from("<I", body, 32 + len(_padded(b" " * vendor)) + 8 * formats)[0])

    def _receive(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            part = self._socket.recv(length - len(data))
            if not part:
                raise ConnectionResetError("it has ended")
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

"""An alarm of the X server that rings when input follows a time without: nobody has to ask for it again and again.

X Synchronization Extension Protocol 3.1 (www.x.org/releases/X11R7.7/doc/xextproto/sync.html); the server's counter
IDLETIME has the milliseconds since the last input.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, Self

_AFTER = 500
"""Milliseconds without input, after which input rings."""
_INITIALIZE, _LIST_SYSTEM_COUNTERS, _CREATE_ALARM, _CHANGE_ALARM, _QUERY_ALARM = 0, 1, 8, 9, 10
_ALARM_NOTIFY = 1
_ABSOLUTE, _NEGATIVE_TRANSITION = 0, 1
_ALL = 0b111111
"""Attributes: counter, kind of value, value, test, delta, whether there are events."""


@dataclass(frozen=True)
class Extension:
    opcode: int
    first_event: int


class _Request(Protocol):
    def __call__(self, request: bytes, *, replies: bool = True) -> bytes: ...


class InputAlarm:
    def __init__(self, sync: Extension, number: int, request: _Request) -> None:
        self.event = sync.first_event + _ALARM_NOTIFY
        self._sync, self._number, self._request = sync, number, request

    @classmethod
    def made(cls, sync: Extension | None, number: int, request: _Request) -> Self | None:
        """With this number as its resource; None if the server cannot."""
        if sync is None or not request(_packed(sync, _INITIALIZE, struct.pack("<BBxx", 3, 1))):
            return None
        counters = dict(_counters(request(_packed(sync, _LIST_SYSTEM_COUNTERS))))
        if b"IDLETIME" not in counters:
            return None
        what = (counters[b"IDLETIME"], _ABSOLUTE, 0, _AFTER, _NEGATIVE_TRANSITION, 0, 0, 1)
        request(_packed(sync, _CREATE_ALARM, struct.pack("<IIIIiIIiII", number, _ALL, *what)), replies=False)
        exists = request(_packed(sync, _QUERY_ALARM, struct.pack("<I", number)))
        return cls(sync, number, request) if exists else None

    def set_again(self) -> None:
        """After it has rung: some servers forget it otherwise."""
        self._request(_packed(self._sync, _CHANGE_ALARM, struct.pack("<II", self._number, 0)), replies=False)


def _counters(reply: bytes) -> Iterator[tuple[bytes, int]]:
    """Name and number of each."""
    if not reply:
        return
    at = 32
    for _ in range(struct.unpack_from("<I", reply, 8)[0]):
        number, length = struct.unpack_from("<I8xH", reply, at)
        yield reply[at + 14 : at + 14 + length], number
        at += 14 + length + -(14 + length) % 4


def _packed(sync: Extension, request: int, body: bytes = b"") -> bytes:
    return struct.pack("<BBH", sync.opcode, request, 1 + len(body) // 4) + body

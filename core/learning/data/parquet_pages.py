"""The pages of a column in a Parquet file, by their own headers: those decide what is decoded, the footer may lie.

A header is a struct in the compact protocol of Apache Thrift. Source: parquet-format's `parquet.thrift`, and Thrift's
`thrift-compact-protocol.md`.
"""

import mmap
from collections.abc import Iterator
from typing import Any, NamedTuple

_KIND, _UNPACKED, _PACKED = 1, 2, 3
"""Fields of a page's header."""
_ENCODINGS = {0: (5, 2), 2: (7, 2), 3: (8, 4)}
"""By kind of page (data, dictionary, data of version 2): the field with its own header, and the encoding's in that."""
_LARGEST_HEADER = 1 << 16
"""Bytes."""
_DEEPEST = 8
_MOST_FIELD = (1 << 15) - 1
_INT = 1 << 31
"""Arrow cuts larger numbers of 32 bits off, so it would read others."""


class Page(NamedTuple):
    unpacked: int
    """Bytes."""
    encoding: int | None
    """Number of the enumeration `Encoding`; None: nothing of it is read."""


def pages(content: mmap.mmap, begin: int, size: int) -> Iterator[Page]:
    """The pages in `size` bytes from `begin` on.

    Raises:
        ValueError, KeyError, TypeError: there is something else.
    """
    at, end = begin, begin + size
    if not 0 <= begin <= end <= len(content):
        raise ValueError("a column outside of the file")
    while at < end:
        reader = _Reader(content, at, min(end, at + _LARGEST_HEADER))
        header = reader.struct()
        if header[_PACKED] < 0 or header[_UNPACKED] < 0:
            raise ValueError("a page has less than nothing")
        own = _ENCODINGS.get(header[_KIND])
        yield Page(header[_UNPACKED], header[own[0]][own[1]] if own else None)
        at = reader.at + header[_PACKED]
    if at != end:
        raise ValueError("a page ends after its column")


class _Reader:
    """Reads one value after the other from `at` on, and nothing from `end` on."""

    def __init__(self, content: mmap.mmap, at: int, end: int) -> None:
        self._content, self.at, self._end = content, at, end

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Values by the number of their field."""
        values, field = dict[int, Any](), 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            if not 0 < field <= _MOST_FIELD or field in values:
                raise ValueError("a field has no number of its own")
            values[field] = self._value(head & 15, depth)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 5:
                return self._int()
            case 4 | 6:
                return self._number()
            case 7:
                self._skip(8)
            case 8:
                self._skip(self._unsigned())
            case 9 | 10:
                self._list(depth)
            case 12:
                return self.struct(depth + 1)
            case _:
                raise ValueError("no such type")
        return None

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        if count > self._end - self.at:
            raise ValueError("a list is too long")
        for _ in range(count):
            # In a list, truth has a byte of its own.
            self._value(3 if head & 15 in {1, 2} else head & 15, depth + 1)

    def _int(self) -> int:
        value = self._number()
        if not -_INT <= value < _INT:
            raise ValueError("a number is too large")
        return value

    def _number(self) -> int:
        value = self._unsigned()
        return (value >> 1) ^ -(value & 1)

    def _unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number is too long")

    def _byte(self) -> int:
        self._skip(1)
        return self._content[self.at - 1]

    def _skip(self, size: int) -> None:
        if size > self._end - self.at:
            raise ValueError("a header is too large")
        self.at += size

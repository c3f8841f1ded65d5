"""The pages of a column in a Parquet file, by their own headers: those decide what is decoded, the footer may lie.

A header is a struct in the compact protocol of Apache Thrift. Source: parquet-format's `parquet.thrift`, and Thrift's
`thrift-compact-protocol.md`.
"""

import mmap
from collections.abc import Iterator
from typing import Any, NamedTuple

_UNPACKED, _PACKED = 2, 3
"""Fields of a page's header."""
_ENCODINGS = {5: 2, 7: 2, 8: 4}
"""Field of the header of a kind of page (data, dictionary, data of version 2), and that of the encoding in it."""
_DEEPEST = 8


class Page(NamedTuple):
    unpacked: int
    """Bytes."""
    encoding: int | None
    """Number of the enumeration `Encoding`; None: nothing of it is read."""


def pages(content: mmap.mmap, begin: int, size: int) -> Iterator[Page]:
    """The pages in `size` bytes from `begin` on.

    Raises:
        ValueError, IndexError: there is something else.
    """
    reader, end = _Reader(content, begin), begin + size
    while reader.at < end:
        header = reader.struct()
        kinds = [header[kind][field] for kind, field in _ENCODINGS.items() if kind in header]
        if header[_PACKED] < 0 or header[_UNPACKED] < 0:
            raise ValueError("a page has less than nothing")
        yield Page(header[_UNPACKED], kinds[0] if kinds else None)
        reader.at += header[_PACKED]


class _Reader:
    """Reads one value after the other from `at` on."""

    def __init__(self, content: mmap.mmap, at: int) -> None:
        self._content, self.at = content, at

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Values by the number of their field."""
        if depth > _DEEPEST:
            raise ValueError("nested too deeply")
        values, field = dict[int, Any](), 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self._number()
            values[field] = self._value(head & 15, depth)
        return values

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                return kind == 1
            case 3:
                return self._byte()
            case 4 | 5 | 6:
                return self._number()
            case 7:
                self.at += 8
            case 8:
                size = self._unsigned()
                self.at += size
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
        for _ in range(count):
            # In a list, truth has a byte of its own.
            self._value(3 if head & 15 in {1, 2} else head & 15, depth + 1)

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
        byte = self._content[self.at]
        self.at += 1
        return byte

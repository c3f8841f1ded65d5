"""Headers of Parquet's pages as no writer makes them: Arrow would read something else in them, or they have no end."""

import mmap
from pathlib import Path

import pytest

from core.learning.data.parquet_pages import Page, pages


def varint(number: int) -> bytes:
    return bytes([number & 127 | 128]) + varint(number >> 7) if number > 127 else bytes([number])


def zigzag(number: int) -> bytes:
    return varint(2 * number if number >= 0 else -2 * number - 1)


def header(unpacked: int, packed: int, kind: int = 0, extra: bytes = b"") -> bytes:
    """With the headers of two kinds of page: a data page of encoding 7, and a dictionary of encoding 0."""
    start = b"\x15" + zigzag(kind) + b"\x15" + zigzag(unpacked) + b"\x15" + zigzag(packed)
    data, dictionary = b"\x2c\x15\x02\x15\x0e\x00", b"\x2c\x15\x02\x15\x00\x00"
    return start + data + dictionary + extra + b"\x00"


def read(folder: Path, content: bytes, begin: int = 0, size: int | None = None) -> list[Page]:
    path = folder / "column"
    path.write_bytes(content)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return list(pages(mapped, begin, len(content) if size is None else size))


def test_the_kind_of_a_page_decides_which_encoding_counts(tmp_path: Path) -> None:
    content = b"".join(header(9, 3, kind) + b"abc" for kind in (0, 1, 2))
    assert read(tmp_path, content) == [Page(9, 7), Page(9, None), Page(9, 0)]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\x19\xf7" + varint(1 << 60) + bytes(64), id="a list of very many numbers"),
        pytest.param(b"\x19\xf1" + varint(1 << 60) + bytes(64), id="a list of very many truths"),
        pytest.param(b"\x11" * 1000, id="more fields than a header has bytes"),
        pytest.param(b"\x19" * 100_000, id="lists in lists"),
        pytest.param(header(1 << 30, 0, extra=b"\x05" + zigzag(65538) + zigzag(1)), id="a field that Arrow takes as 2"),
        pytest.param(header(1 << 30, 0, extra=b"\x05" + zigzag(2) + zigzag(1)), id="a field that comes twice"),
        pytest.param(header(1, 1 << 32), id="a size that Arrow takes as 0"),
        pytest.param(header((1 << 32) + 1, 0), id="a size that Arrow takes as 1"),
        pytest.param(header(1, 1), id="a page that ends after the column"),
        pytest.param(b"\x18" + varint(1 << 40) + bytes(64), id="a text that ends after the column"),
    ],
)
def test_a_header_that_hides_something_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ValueError, match=r"field|number|large|long|deep|ends"):
        read(tmp_path, content)


def test_a_header_is_bounded(tmp_path: Path) -> None:
    """Fields of one byte each take much more memory than they have bytes."""
    text = varint(1 << 16) + bytes(1 << 16)
    with pytest.raises(ValueError, match="header is too large"):
        read(tmp_path, header(1, 0, extra=b"\x18" + text))


@pytest.mark.parametrize(("begin", "size"), [(-1, 1), (0, -1), (0, 1000), (1000, 0)])
def test_a_column_is_within_the_file(tmp_path: Path, begin: int, size: int) -> None:
    with pytest.raises(ValueError, match="outside of the file"):
        read(tmp_path, header(1, 0), begin, size)

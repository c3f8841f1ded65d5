"""UTF-8 text in lines: a sample is a block of whole lines, some paragraphs."""

from collections.abc import Iterator
from typing import BinaryIO

from core.api.project.data import TextData
from core.learning.data.unpacking import PackedBlocks


class TextSource(PackedBlocks):
    def __init__(self, declared: TextData, block: int | None = None) -> None:
        super().__init__(declared.compression)
        self.block = block or declared.block

    def read(self, file: BinaryIO, begin: int) -> Iterator[str]:
        """The lines that begin in the block, as one text; nothing if they are blank."""
        start = max(begin - 1, 0)
        file.seek(start)
        window = file.read(2 * self.block + 1)
        first = _line_start(window, 0, self.block) if begin else 0
        end = _line_start(window, begin + self.block - 1 - start, self.block)
        text = window[first:end].decode("utf-8", errors="replace")
        if text.strip():
            yield text


def _line_start(window: bytes, at: int, block: int) -> int:
    """Where the first line after position `at` starts; a line longer than a block is cut between characters."""
    newline = window.find(b"\n", at, at + block)
    cut = at + 1 if newline < 0 else newline + 1
    while newline < 0 and cut < len(window) and window[cut] & 0xC0 == 0x80:
        cut += 1
    return min(cut, len(window))

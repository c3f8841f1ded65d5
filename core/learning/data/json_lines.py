"""JSON Lines: one object a line, with the text in one field. Other lines are left out."""

from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from core.api.project.data import JsonLinesData
from core.learning.data.unpacking import PackedBlocks

_LONGEST = 1 << 20
"""Bytes of a line. A longer one is cut, is no JSON after that, and is skipped."""


class JsonLinesSource(PackedBlocks):
    def __init__(self, declared: JsonLinesData, block: int = 1 << 16) -> None:
        super().__init__(declared.compression)
        self.block = block
        self._field = declared.field

    def read(self, file: BinaryIO, begin: int) -> Iterator[str]:
        file.seek(max(begin - 1, 0))
        if begin:
            # Skip the rest of a line that began in the block before.
            file.readline()
        while file.tell() < begin + self.block and (line := file.readline(_LONGEST)):
            if text := self._text_of(line):
                yield text

    def _text_of(self, line: bytes) -> str | None:
        try:
            value = msgspec.json.decode(line, type=dict[str, Any]).get(self._field)
        except msgspec.DecodeError:
            return None
        return value if isinstance(value, str) and value.strip() else None

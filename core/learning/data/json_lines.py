"""JSON Lines: one object a line, with the text in one field. Other lines are left out."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from core.api.decoding import decode
from core.api.project.data import Compression, JsonLinesData
from core.learning.data.unpacking import PackedBlocks

_DECODER = msgspec.json.Decoder(dict[str, Any])
_LONGEST = 1 << 20
"""Bytes of a line. A longer one is cut, is no JSON after that, and is skipped."""


class Lines(PackedBlocks):
    """One sample a line."""

    def __init__(self, compression: Compression, block: int = 1 << 16) -> None:
        super().__init__(compression)
        self.block = block

    @abstractmethod
    def sample(self, line: bytes) -> Any:
        """None leaves the line out."""

    def read(self, file: BinaryIO, begin: int) -> Iterator[Any]:
        file.seek(max(begin - 1, 0))
        if begin:
            # Skip the rest of a line that began in the block before.
            file.readline()
        while file.tell() < begin + self.block and (line := file.readline(_LONGEST)):
            if (found := self.sample(line)) is not None:
                yield found


class JsonLinesSource(Lines):
    def __init__(self, declared: JsonLinesData, block: int = 1 << 16) -> None:
        super().__init__(declared.compression, block)
        self._field = declared.field

    def sample(self, line: bytes) -> str | None:
        try:
            value = decode(_DECODER, line).get(self._field)
        except msgspec.DecodeError:
            return None
        return value if isinstance(value, str) and value.strip() else None

"""Captions with the codes of their pictures, as JSON Lines: `{"caption": "a red square", "codes": [7, 7, 31, …]}`.

Other lines are left out.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from core.api.decoding import decode
from core.api.project.data import CaptionedCodesData
from core.learning.data.json_lines import Lines

Code = Annotated[int, Meta(ge=0, lt=1 << 24)]


class CaptionedCodes(msgspec.Struct, frozen=True):
    """What a picture shows, and its codes, row by row."""

    caption: Annotated[str, Meta(min_length=1)]
    codes: tuple[Code, ...]


_DECODER = msgspec.json.Decoder(CaptionedCodes)


class CaptionedCodesSource(Lines):
    def __init__(self, declared: CaptionedCodesData) -> None:
        super().__init__(declared.compression)

    def sample(self, line: bytes) -> CaptionedCodes | None:
        try:
            return decode(_DECODER, line)
        except msgspec.DecodeError:
            return None

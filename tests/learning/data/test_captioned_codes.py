"""Captions with codes: each line is a sample, and what is no such line is left out."""

import json
from pathlib import Path

from core.api.project.data import CaptionedCodesData
from core.api.project.fields import File
from core.learning.data import source_for
from core.learning.data.captioned_codes import CaptionedCodes
from core.learning.data.source import once

SOURCE = source_for(CaptionedCodesData((File("a", "0" * 64, 1),)))
WRONG = (
    '{"caption": "", "codes": [1]}',
    '{"caption": "no codes"}',
    '{"caption": "below zero", "codes": [-1]}',
    '{"caption": "far too large", "codes": [99999999999]}',
    '{"caption": 3, "codes": [1]}',
    '{"caption": "a string", "codes": "1 2"}',
    "no JSON",
    "[]",
    '{"caption": "not UTF-8 \udcff", "codes": [1]}',
    '{"url": ' + "[" * 100_000,
)


def test_lines_with_caption_and_codes_are_samples_and_others_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    good = [CaptionedCodes(f"picture {number}", (number, 7)) for number in range(50)]
    lines = [json.dumps({"caption": each.caption, "codes": each.codes, "url": "x"}) for each in good]
    path.write_text("\n".join([*WRONG, *lines, *WRONG]), errors="surrogateescape")
    assert list(once(SOURCE, path)) == good

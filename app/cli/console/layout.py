"""How many places a text takes in a terminal, and lines made of that. Pure."""

import re
from collections.abc import Iterable
from unicodedata import category, east_asian_width

_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
_CLOSING = "、。，：；！？）”》"


def width(text: str) -> int:
    """Chinese characters take two places, marks above and below none; marks beside a letter take one, as in glibc."""
    return len(text) if text.isascii() else sum(map(_letter, text))


def padded(text: str, to: int, *, right: bool = False) -> str:
    """Filled up with spaces: behind it, or before it if its side is the right one."""
    space = " " * (to - width(text))
    return space + text if right else text + space


def wrapped(text: str, room: int) -> list[str]:
    """Lines of at most so many places, cut at spaces and between Chinese characters; a word that is longer is cut."""
    words = re.findall(rf" *(?:[{_WIDE}][{_CLOSING}]*|[^ {_WIDE}]{{1,{max(room, 1)}}}[{_CLOSING}]*)", text)
    lines = [""]
    for word in words:
        if lines[-1] and width(lines[-1] + word) > room:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return lines


def hanging(first: str, text: str, room: int) -> list[str]:
    """`text` beside `first`, with its further lines below its first one."""
    indent = width(first)
    beside, *below = wrapped(text, room - indent)
    return [first + beside, *(" " * indent + line for line in below)]


def aligned(rows: Iterable[tuple[str, str]], gap: int = 2, column: int = 0) -> list[str]:
    """Names, and beside them values below each other, from `column` on or where the longest name ends."""
    pairs = list(rows)
    begin = max([column, *(width(name) + gap for name, _ in pairs)])
    return [padded(name, begin) + value for name, value in pairs]


def _letter(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1

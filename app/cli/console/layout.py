"""How many places a text takes in a terminal, and lines made of that. Pure."""

import re
from collections.abc import Iterable
from unicodedata import category, east_asian_width

_WIDE = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60"
_INDENT, _NAMED = re.compile(r" *"), re.compile(r" *\S.*?  +(?=\S)")
_CLOSING = "、。，：；！？）”》"


def width(text: str) -> int:
    """Chinese characters take two places, marks above and below none; marks beside a letter take one, as in glibc."""
    return len(text) if text.isascii() else sum(map(_letter, text))


def padded(text: str, to: int, *, right: bool = False) -> str:
    """Filled up with spaces: behind it, or before it if its side is the right one."""
    space = " " * (to - width(text))
    return space + text if right else text + space


def wrapped(text: str, room: int, *, whole: bool = False) -> list[str]:
    """Lines of at most so many places, cut at spaces and between Chinese characters; a word that is longer is cut,
    unless words stay `whole`.
    """
    longest = "" if whole else max(room, 1)
    words = re.findall(rf" *(?:[{_WIDE}][{_CLOSING}]*|[^ {_WIDE}]{{1,{longest}}}[{_CLOSING}]*)", text)
    lines = [""]
    for word in words:
        if lines[-1] and width(lines[-1] + word) > room:
            lines.append(word.lstrip())
        else:
            lines[-1] += word
    return lines


def fitted(text: str, room: int) -> list[str]:
    """The lines of a text; what is too long goes on below the beginning of its sentence, and paths stay whole."""
    return [part for line in text.split("\n") for part in _fitted(line, room)]


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


def _fitted(line: str, room: int) -> list[str]:
    if width(line) <= room:
        return [line]
    beginnings = (found[0] for pattern in (_NAMED, _INDENT) if (found := pattern.match(line)))
    indent = next((each for each in beginnings if width(each) <= room / 2), "")
    text, space = line[len(indent) :], " " * width(indent)
    beside, *below = wrapped(text, room - len(space), whole=True)
    return [indent + beside, *(space + part for part in below)]


def _letter(letter: str) -> int:
    if category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if east_asian_width(letter) in ("W", "F") else 1

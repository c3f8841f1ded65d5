"""The log files of the profile: read as they grow, merged by time, with a level for each line.

The command line and the window read them alike; the engine need not run for it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from core.client.profile import Profile

TAIL = 4 << 20
"""Bytes at the end of a file that are read first."""

_TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)")
_LEVEL = re.compile(r"\b(DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b")
_SEARCHED = 120
"""Letters at the beginning of a line that may have its level."""


class Level(IntEnum):
    INFO = 0
    WARNING = 1
    ERROR = 2


class Line(NamedTuple):
    source: str
    """The file's name without its ending."""
    text: str
    level: Level


@dataclass
class Tail:
    """A file that grows. A file that was replaced is read from its start."""

    path: Path
    _position: int = 0
    _rest: bytes = field(default=b"", repr=False)

    @property
    def name(self) -> str:
        return self.path.stem

    def read(self, most: int = TAIL) -> list[str]:
        """The complete lines since the last call, from the last `most` bytes at most."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._position:
                    self._position, self._rest = 0, b""
                file.seek(max(self._position, size - most))
                data = file.read(most)
                self._position = file.tell()
        except OSError:
            return []
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [_clean(line.decode(errors="replace")) for line in whole]


def tails(profile: Profile, known: dict[Path, Tail]) -> Iterator[Tail]:
    """Every log file of the profile; `known` ones continue at their position."""
    for path in sorted(profile.logs.glob("*.log")):
        yield known.setdefault(path, Tail(path))


def merge(files: Iterable[tuple[str, list[str]]]) -> list[tuple[str, str]]:
    """(file, line) of several files in the order of time; a line without a time stays below the one before it."""
    dated: list[tuple[str, str, str]] = []
    for name, lines in files:
        moment = ""
        for line in lines:
            found = _TIME.match(line)
            moment = found[1].replace("T", " ").replace(",", ".") if found else moment
            dated.append((moment, name, line))
    dated.sort(key=lambda row: row[0])
    return [(name, line) for _, name, line in dated]


def with_levels(lines: Iterable[tuple[str, str]], before: dict[str, Level]) -> list[Line]:
    """Each line with its level; one without is as urgent as the line before it, as in a traceback.

    `before` has the level of the last line of each file, and is brought up to date.
    """
    found = []
    for source, text in lines:
        word = _LEVEL.search(text[:_SEARCHED])
        if word or _TIME.match(text):
            before[source] = _level(word[1] if word else "")
        found.append(Line(source, text, before.get(source, Level.INFO)))
    return found


def _level(word: str) -> Level:
    if word in ("ERROR", "CRITICAL"):
        return Level.ERROR
    return Level.WARNING if word.startswith("WARN") else Level.INFO


def _clean(text: str) -> str:
    """Text without the characters that control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)

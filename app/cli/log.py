"""log: what the engine and the sessions wrote, merged by time."""

import argparse
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.cli import words
from app.cli.parser import Verbs, add_verb
from core.api.errors import UsageError
from core.api.home import Home

TEXT = """
What the engine and the sessions wrote, the newest last.

  idlehive log              the last 200 lines
  idlehive log -n 1000
  idlehive log -f           and what comes, until Ctrl-C
"""

_LOOK_AGAIN = 0.3
_TAIL = 4 << 20
_TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?)")


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "log", "what the engine and the sessions wrote", TEXT, run)
    parser.add_argument("-f", "--follow", action="store_true", help="go on with what comes, until Ctrl-C")
    parser.add_argument("-n", dest="lines", metavar="LINES", default="200", help="at most so many old lines (200)")


def run(arguments: argparse.Namespace, home: Home) -> int:
    if not arguments.lines.isascii() or not arguments.lines.isdigit() or len(arguments.lines) > 9:
        raise UsageError(f"{arguments.lines!r} is not a number of lines.")
    tails: dict[Path, _Tail] = {}
    old = merge((tail.name, tail.read()) for tail in _tails(home, tails))
    kept = old[-int(arguments.lines) :] if int(arguments.lines) else []
    if not old and not arguments.follow:
        print(f"Nothing was logged yet in {home.logs}.")
    _print(kept)
    if arguments.follow:
        with suppress(KeyboardInterrupt):
            _follow(home, tails)
    return 0


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


@dataclass
class _Tail:
    """A file that grows; one that was begun again is read from its start."""

    path: Path
    _position: int = 0
    _rest: bytes = field(default=b"", repr=False)

    @property
    def name(self) -> str:
        return self.path.stem

    def read(self) -> list[str]:
        """The whole lines since the last time; at first, those of the last megabytes."""
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, 2)
                if size < self._position:
                    self._position, self._rest = 0, b""
                file.seek(max(self._position, size - _TAIL))
                data = file.read()
                self._position = file.tell()
        except OSError:
            return []
        *whole, self._rest = (self._rest + data).split(b"\n")
        return [words.clean(line.decode(errors="replace")) for line in whole]


def _tails(home: Home, known: dict[Path, _Tail]) -> Iterator[_Tail]:
    for path in sorted(home.logs.glob("*.log")):
        yield known.setdefault(path, _Tail(path))


def _follow(home: Home, tails: dict[Path, _Tail]) -> None:
    while True:
        _print(merge([(tail.name, tail.read()) for tail in _tails(home, tails)]))
        time.sleep(_LOOK_AGAIN)


def _print(lines: Iterable[tuple[str, str]]) -> None:
    for name, line in lines:
        print(f"{name:<12} {line}", flush=True)

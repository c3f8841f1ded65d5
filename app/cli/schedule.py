"""schedule: the week in which this computer contributes."""

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from app.cli.console import output
from app.cli.console.connection import borrowed
from app.cli.console.parser import Parser, Verbs, add_json, add_part, add_verb
from app.cli.console.preferences import choose, chosen
from app.text import schedule
from app.text.typed import week
from core.api.errors import UsageError, WorldError
from core.api.preferences import week_text
from core.api.preferences.schedule import CELLS_A_DAY, DAYS, MARKS, PRESETS, Level
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = f"""
The week in which this computer contributes, in steps of half an hour: off,
gentle (with the limits named gentle.…) or full. A `contribute` or `pause` of
yours overrides it until the schedule's next change.

  idlehive schedule                              draws the week
  idlehive schedule set nights
  idlehive schedule set "mon-fri 18:00-08:00; sat,sun; daily 12:00-14:00 gentle"
  idlehive schedule set week.txt                 the same in a file
  idlehive schedule clear                        always

Presets: {", ".join(PRESETS)}.
A window that ends before it starts runs overnight and belongs to the day it
starts on. Later windows paint over earlier ones, `off` too. 336 marks (. off,
g gentle, f full; Monday 00:00 first) are understood as well.
"""

_BLOCKS = {Level.OFF: "·", Level.GENTLE: "▒", Level.FULL: "█"}
_LETTERS = {level: mark for mark, level in MARKS.items()}
_CHANGING = "~"
_MARGIN = 4
_LARGEST_FILE = 1 << 16


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "schedule", "show or set the hours of the week", TEXT, run_show)
    add_json(parser)
    parts = parser.add_subparsers(metavar="show|set|clear", title="what to do", parser_class=Parser)
    add_part(parts, "show", "draw the week", TEXT, run_show)
    setting = add_part(parts, "set", "another week", TEXT, run_set)
    setting.add_argument("week", metavar="PRESET|TEXT|FILE", nargs="+", help="a preset, windows of time, or a file")
    add_part(parts, "clear", "back to always", TEXT, run_clear)


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, chosen(engine)["week"])


def run_set(arguments: argparse.Namespace, profile: Profile) -> int:
    cells = week_text.parse(_text(arguments.week))
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, choose(engine, "week", cells))


def run_clear(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, choose(engine, "week", week_text.preset_cells("always")))


def drawing(cells: str, width: int, marks: Mapping[Level, str] = _BLOCKS) -> list[str]:
    """A row a day under a ruler of hours; where there is no room for half hours, a column an hour. Pure."""
    cells_a_column = 1 if width >= _MARGIN + CELLS_A_DAY else 2
    step = 3 * 2 // cells_a_column
    ruler = "".join(f"{hour:<{step}}" for hour in range(0, 24, 3))
    rows = [" " * _MARGIN + ruler.rstrip()]
    for number, day in enumerate(DAYS):
        own = cells[number * CELLS_A_DAY : (number + 1) * CELLS_A_DAY]
        columns = [own[start : start + cells_a_column] for start in range(0, CELLS_A_DAY, cells_a_column)]
        rows.append(f"{day.title():<{_MARGIN}}" + "".join(_column(column, marks) for column in columns))
    shown = [f"{marks[level]} {level}" for level in reversed(Level)]
    changing = [f"{_CHANGING} changes"] if any(_CHANGING in row for row in rows) else []
    return [*rows, " " * _MARGIN + "  ".join([*shown, *changing])]


def _column(cells: str, marks: Mapping[Level, str]) -> str:
    return marks[MARKS[cells[0]]] if len(set(cells)) == 1 else _CHANGING


def _print_answer(arguments: argparse.Namespace, engine: EngineClient, cells: str) -> int:
    state, preset = engine.request(GetSnapshot(), Snapshot).schedule, week_text.preset_of(cells)
    if arguments.json:
        output.print_json({"cells": cells, "preset": preset, **msgspec.to_builtins(state)})
        return 0
    print(f"{week.name(cells)} ({state.zone} time). {schedule.summary(state, time.time())}")
    if preset != "always":
        print("\n".join(drawing(cells, shutil.get_terminal_size().columns, _marks())))
    return 0


def _marks() -> Mapping[Level, str]:
    return _BLOCKS if (sys.stdout.encoding or "").lower().startswith("utf") else _LETTERS


def _text(arguments: list[str]) -> str:
    text = " ".join(arguments)
    path = Path(text).expanduser()
    if text == "-":
        return sys.stdin.read(_LARGEST_FILE)
    if len(arguments) > 1 or len(text) > 255 or not path.is_file():
        if text.endswith(".txt") or text.startswith(("/", "./", "~")):
            raise UsageError("file_missing", path=text)
        return text
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(_LARGEST_FILE)
    except UnicodeDecodeError:
        raise UsageError("file_not_unicode", path=text) from None
    except OSError as error:
        raise WorldError("file_unreadable", path=text, detail=error.strerror or str(error)) from None

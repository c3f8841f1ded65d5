"""schedule: the week in which this computer contributes."""

import argparse
import shutil
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from app.cli.console import layout, output
from app.cli.console.connection import borrowed
from app.cli.console.help_texts import help_text
from app.cli.console.parser import Verbs, add_json, add_part, add_parts, add_verb
from app.cli.console.preferences import choose, chosen
from app.text import schedule
from app.text.formats import times
from app.text.i18n import N_, tr
from app.text.typed import week
from core.api.errors import UsageError, os_errors_as
from core.api.preferences import week_text
from core.api.preferences.schedule import CELLS_A_DAY, DAYS, MARKS, PRESETS, Level
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile

TEXT = help_text("""
The week in which this computer contributes, in steps of half an hour: off,
gentle (with the limits named gentle.…) or full. A `contribute` or `pause` of
yours overrides it until the schedule's next change.

  idlehive schedule                              draws the week
  idlehive schedule set nights
  idlehive schedule set "mon-fri 18:00-08:00; sat,sun; daily 12:00-14:00 gentle"
  idlehive schedule set week.txt                 the same in a file
  idlehive schedule clear                        always

Presets: {presets}.

A window that ends before it starts runs overnight and belongs to the day it
starts on. Later windows paint over earlier ones, `off` too. Days, levels and
presets are understood in English and in your language. 336 marks (. off, g
gentle, f full; Monday 00:00 first) are understood as well.
""").replace("{presets}", ", ".join(PRESETS))

_BLOCKS = {Level.OFF: "·", Level.GENTLE: "▒", Level.FULL: "█"}
_LETTERS = {level: mark for mark, level in MARKS.items()}
_CHANGING = "~"
_MARGIN = 4
_LARGEST_FILE = 1 << 16


def add(verbs: Verbs) -> None:
    parser = add_verb(verbs, "schedule", N_("show or set the hours of the week"), TEXT, run_show)
    add_json(parser)
    parts = add_parts(parser, "show", "set", "clear")
    add_part(parts, "show", N_("draw the week"), TEXT, run_show)
    setting = add_part(parts, "set", N_("another week"), TEXT, run_set)
    setting.add_argument("week", metavar="PRESET|TEXT|FILE", nargs="+", help=N_("a preset, windows of time, or a file"))
    add_part(parts, "clear", N_("back to always"), TEXT, run_clear)


def run_show(arguments: argparse.Namespace, profile: Profile) -> int:
    with borrowed(profile) as engine:
        return _print_answer(arguments, engine, chosen(engine)["week"])


def run_set(arguments: argparse.Namespace, profile: Profile) -> int:
    cells = week.parse(_text(arguments.week))
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
    rows = [("", ruler.rstrip())]
    for number in range(len(DAYS)):
        own = cells[number * CELLS_A_DAY : (number + 1) * CELLS_A_DAY]
        columns = [own[start : start + cells_a_column] for start in range(0, CELLS_A_DAY, cells_a_column)]
        rows.append((times.short_weekday(number), "".join(_column(column, marks) for column in columns)))
    shown = [f"{marks[level]} {week.level_name(level)}" for level in reversed(Level)]
    changing = [f"{_CHANGING} {tr('changes')}"] if any(_CHANGING in row for _, row in rows) else []
    return layout.aligned([*rows, ("", "  ".join([*shown, *changing]))], gap=1, column=_MARGIN)


def _column(cells: str, marks: Mapping[Level, str]) -> str:
    return marks[MARKS[cells[0]]] if len(set(cells)) == 1 else _CHANGING


def _print_answer(arguments: argparse.Namespace, engine: EngineClient, cells: str) -> int:
    state, preset = engine.request(GetSnapshot(), Snapshot).schedule, week_text.preset_of(cells)
    if arguments.json:
        output.print_json({"cells": cells, "preset": preset, **msgspec.to_builtins(state)})
        return 0
    summary = schedule.summary(state, time.time())
    output.say(tr("{week} ({zone} time). {summary}", week=week.name(cells), zone=state.zone, summary=summary))
    if preset != "always":
        output.say("\n".join(drawing(cells, shutil.get_terminal_size().columns, _marks())))
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
        with os_errors_as("file_unreadable", path=text), path.open(encoding="utf-8") as file:
            return file.read(_LARGEST_FILE)
    except UnicodeDecodeError:
        raise UsageError("file_not_unicode", path=text) from None

"""What can be done to a week of cells, and how it is read and written. Pure; the marks are those of the schedule."""

import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from app.text.formats import times
from app.text.i18n import tr
from core.api.preferences import week_text
from core.api.preferences.schedule import CELL, CELLS, CELLS_A_DAY, DAYS, MARKS, Level, Preset, mark_of
from core.api.preferences.week_text import preset_of

ALWAYS = mark_of(Level.FULL) * CELLS


class Cell(NamedTuple):
    """`day` from Monday = 0, `slot` the half hour of the day."""

    day: int
    slot: int


def level_at(cells: str, cell: Cell) -> Level:
    return MARKS[cells[cell.day * CELLS_A_DAY + cell.slot]]


def painted(cells: str, days: Iterable[int], slots: Iterable[int], level: Level) -> str:
    """The week with these half hours of these days at a level."""
    marks, hours = list(cells), list(slots)
    for day in days:
        for slot in hours:
            marks[day * CELLS_A_DAY + slot] = mark_of(level)
    return "".join(marks)


def hours(cells: str, *levels: Level) -> float:
    """How many hours of the week have one of these levels."""
    return sum(cells.count(mark_of(level)) for level in levels) * CELL / 60


def parse(text: str) -> str:
    """The cells of a typed week; days, levels and presets are named in the language in use, or in English.

    Raises:
        UsageError: it is no week; names the wrong part.
    """
    return week_text.parse(unicodedata.normalize("NFKC", text), _in_english)


def _in_english(text: str) -> str:
    text = re.sub("[‐-―−]", "-", text)
    for own, english in sorted(_own_words().items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<![^\W\d]){re.escape(own)}\.?(?![^\W\d])", f" {english} ", text)
    return text


def _own_words() -> dict[str, str]:
    """What the language calls days, levels and presets, in lower case, and their names in English."""
    named: dict[str, str] = {name: preset for preset, name in preset_names().items()}
    named |= {level_name(level): level.value for level in Level} | {tr("daily"): "daily"}
    for number, day in enumerate(DAYS):
        named |= {times.weekday(number): day, times.short_weekday(number): day}
    return {unicodedata.normalize("NFKC", name).lower(): english for name, english in named.items()}


def level_name(level: Level) -> str:
    return {Level.OFF: tr("off"), Level.GENTLE: tr("gentle"), Level.FULL: tr("full")}[level]


def power_name(level: Level) -> str:
    """A level in a sentence."""
    return {Level.OFF: tr("off"), Level.GENTLE: tr("gentle"), Level.FULL: tr("full power")}[level]


def name(cells: str) -> str:
    """The preset that a week is, if it is one."""
    preset = preset_of(cells)
    return preset_names()[preset] if preset else tr("A week of your own")


def preset_names() -> dict[Preset, str]:
    return {
        "always": tr("Always"),
        "nights": tr("Nights"),
        "weekends": tr("Weekends"),
        "working_day_off": tr("Not in working hours"),
        "gentle": tr("Gentle"),
        "never": tr("Clear"),
    }


def next_level(level: Level) -> Level:
    """The one that the space bar puts in its place."""
    levels = list(Level)
    return levels[(levels.index(level) + 1) % len(levels)]


def slot_time(slot: int) -> str:
    """When a half hour begins, or the one before it ends."""
    return tr("midnight") if slot == CELLS_A_DAY else times.time_of_day(*divmod(slot * CELL, 60))


def span_text(slots: range) -> str:
    return tr("{start} to {end}", start=slot_time(slots.start), end=slot_time(slots.stop))

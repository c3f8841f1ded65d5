"""The week in which a volunteer contributes: cells of half an hour, each off, gentle or full. Pure.

A week is written as 336 marks, Monday 00:00 first: `.` off, `g` gentle, `f` full. Line breaks and blanks do not count,
so seven lines of 48 marks are a picture of it. All arithmetic is on minutes of the week in local time; moments are UTC
seconds, and the zone is passed in. So an hour that daylight saving skips has no cells, and an hour that it repeats has
its cells twice.
"""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from enum import StrEnum
from typing import Literal, get_args

import msgspec

from core.api.errors import UsageError

CELL = 30
"""Minutes."""
CELLS_A_DAY = 24 * 60 // CELL
CELLS = 7 * CELLS_A_DAY
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

_HORIZON = 9 * 86_400
"""Seconds in which a week reaches all its levels: a week, and a day for what daylight saving skips."""


class Level(StrEnum):
    """How much may be used."""

    OFF = "off"
    GENTLE = "gentle"
    """With the limits for gentle hours."""
    FULL = "full"


MARKS: dict[str, Level] = {".": Level.OFF, "g": Level.GENTLE, "f": Level.FULL}

Preset = Literal["always", "nights", "weekends", "working_day_off", "gentle", "never"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


class Outlook(msgspec.Struct, frozen=True):
    """The level at a moment, and when it changes; None: never."""

    level: Level = Level.FULL
    next_level: Level | None = None
    next_at: float | None = None
    """UTC seconds."""


ALWAYS = Outlook()


class ScheduleState(Outlook, frozen=True):
    """The schedule in the snapshot. The fields of `Outlook` are those of the chosen week, whatever overrides it."""

    overridden: bool = False
    """The volunteer contributes now even if the week is off …"""
    override_until: float | None = None
    """… until this time, None: until resumed."""
    zone: str = "UTC"
    """Name of the zone whose local time the week is in."""


def mark_of(level: Level) -> str:
    return next(mark for mark, its in MARKS.items() if its is level)


def read(text: str) -> str:
    """Cells from marks.

    Raises:
        UsageError: another number of cells, or another mark.
    """
    cells = "".join(text.split())
    wrong = next((mark for mark in cells if mark not in MARKS), None)
    if wrong is not None:
        raise UsageError("schedule_mark_unknown", mark=wrong)
    if len(cells) != CELLS:
        raise UsageError("schedule_length", needed=CELLS, given=len(cells))
    return cells


def level_at(cells: str, moment: float, zone: tzinfo) -> Level:
    """The level of the cell with this local time."""
    return _level(cells, datetime.fromtimestamp(moment, zone))


def outlook(cells: str, moment: float, zone: tzinfo) -> Outlook:
    """The level at `moment`, and the first later moment with another one."""
    level = level_at(cells, moment, zone)
    if cells.count(mark_of(level)) == CELLS:
        return Outlook(level)
    for edge, local in _edges(moment, zone):
        following = _level(cells, local)
        if following is not level:
            return Outlook(level, following, edge)
        if edge > moment + _HORIZON:
            break
    return Outlook(level)


def _level(cells: str, local: datetime) -> Level:
    return MARKS[cells[local.weekday() * CELLS_A_DAY + (local.hour * 60 + local.minute) // CELL]]


def _edges(moment: float, zone: tzinfo) -> Iterator[tuple[int, datetime]]:
    """Every moment after `moment` at which local time enters a cell, or jumps; with local time there."""
    here = int(moment // 1)
    local = datetime.fromtimestamp(here, zone)
    while True:
        there = here + (CELL - local.minute % CELL) * 60 - local.second
        ahead = datetime.fromtimestamp(there, zone)
        if ahead.utcoffset() != local.utcoffset():
            there = _jump(here, there, zone)
            ahead = datetime.fromtimestamp(there, zone)
        here, local = there, ahead
        yield here, local


def _jump(before: int, after: int, zone: tzinfo) -> int:
    """The first second with another offset from UTC than `before`, at the latest `after`, by bisection."""
    offset = datetime.fromtimestamp(before, zone).utcoffset()
    while after - before > 1:
        middle = (before + after) // 2
        if datetime.fromtimestamp(middle, zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after

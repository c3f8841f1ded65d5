"""Local days and hours of a zone as arithmetic on UTC seconds, for use in SQL. Pure.

Days are numbered from 1 January 1970. An hour belongs to the day in which it begins.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from itertools import pairwise
from typing import Literal

Size = Literal["day", "week", "month"]

_EPOCH = date(1970, 1, 1).toordinal()
_STEP = 7 * 86_400
"""Seconds: no zone changes its offset and changes it back within a week."""
_FIRST, _LAST = 0, 253_370_764_800
"""UTC seconds from 1970 to the year 9999."""


@dataclass(frozen=True)
class Offsets:
    """A zone's offsets from UTC in a period: from each moment in `since`, the offset in `seconds` at its index."""

    since: tuple[int, ...]
    seconds: tuple[int, ...]

    def at(self, moment: float) -> int:
        return self.seconds[max(0, bisect_right(self.since, moment) - 1)]

    def day(self, hour: float) -> int:
        return int((hour + self.at(hour)) // 86_400)

    def hours(self, day: int) -> list[int]:
        """The hours of a day: mostly 23 to 25."""
        around = range((day - 1) * 86_400, (day + 2) * 86_400, 3600)
        return [hour for hour in around if self.day(hour) == day]

    def within(self, begin: float, end: float) -> "Offsets":
        """The offsets that apply from `begin` to `end`."""
        first, last = _hour(begin), _hour(end)
        changes = [(since, offset) for since, offset in zip(self.since, self.seconds, strict=True)
                   if first < since <= last]  # fmt: skip
        return Offsets((first, *(since for since, _ in changes)), (self.at(first), *(offset for _, offset in changes)))

    def sql(self) -> str:
        """An SQL expression for the local time of column `hour`."""
        if len(self.since) == 1:
            return f"(hour + {self.seconds[0]})"
        whens = " ".join(
            f"WHEN hour < {until} THEN {offset}" for until, offset in zip(self.since[1:], self.seconds, strict=False)
        )
        return f"(hour + CASE {whens} ELSE {self.seconds[-1]} END)"


def offsets(zone: tzinfo, begin: float, end: float) -> Offsets:
    """The offsets of all hours that begin from `begin` to `end`."""
    first, last = _hour(begin), max(_hour(begin), _hour(end))
    moments = [*range(first, last, _STEP), last]
    since, seconds = [first], [_offset(zone, first)]
    for before, after in pairwise(moments):
        if _offset(zone, after) != seconds[-1]:
            since.append(_change(zone, before, after))
            seconds.append(_offset(zone, after))
    return Offsets(tuple(since), tuple(seconds))


def date_of(day: int) -> date:
    return date.fromordinal(_EPOCH + day)


def number_of(day: date) -> int:
    return day.toordinal() - _EPOCH


def midnight(day: int, zone: tzinfo) -> float:
    """UTC seconds at which a local day begins."""
    there = date_of(day)
    return datetime(there.year, there.month, there.day, tzinfo=zone).timestamp()


def begin_of(day: int, size: Size) -> int:
    """The first day of the week (Monday) or month of a day; for bucket `day`, the day itself."""
    if size == "week":
        return day - (day + 3) % 7
    return day if size == "day" else day - date_of(day).day + 1


def _hour(moment: float) -> int:
    return int(min(_LAST, max(_FIRST, moment)) // 3600 * 3600)


def _offset(zone: tzinfo, moment: int) -> int:
    # Historical offsets are not always whole hours.
    distance = datetime.fromtimestamp(moment, UTC).astimezone(zone).utcoffset()
    return round(distance.total_seconds()) if distance else 0


def _change(zone: tzinfo, before: int, after: int) -> int:
    """The first full hour with the offset of `after`."""
    wanted = _offset(zone, after)
    while after - before > 3600:
        middle = (before + after) // 2 // 3600 * 3600
        before, after = (before, middle) if _offset(zone, middle) == wanted else (middle, after)
    return after

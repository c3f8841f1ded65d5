"""Lengths of time and days as people write them on the command line. Pure."""

import re
from datetime import datetime, timedelta

from app.text.formats import units
from core.api.errors import UsageError

_SECONDS = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_PART = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([^\s0-9]+)\s*")
_YEAR = 366 * 86400


def read_seconds(text: str) -> float | None:
    """Seconds from `2h`, `90m`, `1 h 30 min`; None: not a duration."""
    total, end = 0.0, 0
    for part in _PART.finditer(text):
        factor = _SECONDS.get(units.in_english(part[2]).lower())
        if part.start() != end or factor is None:
            return None
        total, end = total + float(part[1]) * factor, part.end()
    return total if text and end == len(text) else None


def parse_duration(text: str) -> int:
    """Seconds; more than 0 and at most a year.

    Raises:
        UsageError: not such a duration.
    """
    seconds = read_seconds(text.strip())
    if seconds is None:
        raise UsageError("duration_invalid", text=text)
    if not 1 <= seconds <= _YEAR:
        raise UsageError("duration_too_long", text=text)
    return round(seconds)


def parse_since(text: str, now: datetime) -> datetime:
    """The start of a period: `2026-01-31`, `today`, `yesterday`, or so long ago: `7d`, `12h`. In the zone of `now`.

    Raises:
        UsageError: not a date.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"today": midnight, "yesterday": midnight - timedelta(days=1)}
    if text in named:
        return named[text]
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        seconds = read_seconds(text)
        if seconds is None or seconds > 100 * _YEAR:
            raise UsageError("date_invalid", text=text) from None
        return now - timedelta(seconds=seconds)
    return day if day.tzinfo else day.replace(tzinfo=now.tzinfo)

"""Lengths of time and days as they are written on the command line."""

from datetime import datetime, timedelta, timezone

import pytest

from app.text.typed import periods
from core.api.errors import UsageError

NOW = datetime(2026, 3, 5, 14, 30, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(("text", "seconds"), [("2h", 7200), ("90m", 5400), ("1h30m", 5400), ("1d", 86400), ("3s", 3)])
def test_a_duration_is_read(text: str, seconds: int) -> None:
    assert periods.parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "0m", "0.1s", "90", "400d", "-1h", "1h x", "1 hour ago"])
def test_a_duration_that_is_none_is_a_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        periods.parse_duration(text)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=NOW.tzinfo)),
        ("today", datetime(2026, 3, 5, tzinfo=NOW.tzinfo)),
        ("yesterday", datetime(2026, 3, 4, tzinfo=NOW.tzinfo)),
        ("7d", NOW - timedelta(days=7)),
        ("2026-01-31T12:00:00+00:00", datetime(2026, 1, 31, 14, tzinfo=NOW.tzinfo)),
    ],
)
def test_the_start_of_a_period_is_in_the_zone_of_the_volunteer(text: str, start: datetime) -> None:
    assert periods.parse_since(text, NOW) == start


@pytest.mark.parametrize("text", ["tomorrow", "31.1.2026", "2026-13-01", "", "99999999d"])
def test_a_period_that_is_none_is_a_wrong_use(text: str) -> None:
    with pytest.raises(UsageError):
        periods.parse_since(text, NOW)

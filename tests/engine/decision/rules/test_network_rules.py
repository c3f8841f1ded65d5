from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.preferences.preferences import DEFAULTS, Values
from core.engine.decision.rules.network_rules import month_begin, month_end, network_use

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def told(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, BERLIN).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("day", "now", "begin", "end"),
    [
        (1, "2026-03-14 12:00", "2026-03-01 00:00", "2026-04-01 00:00"),
        (20, "2026-03-14 12:00", "2026-02-20 00:00", "2026-03-20 00:00"),
        (14, "2026-03-14 00:00", "2026-03-14 00:00", "2026-04-14 00:00"),
        (28, "2026-03-01 00:00", "2026-02-28 00:00", "2026-03-28 00:00"),
        (10, "2026-01-05 08:00", "2025-12-10 00:00", "2026-01-10 00:00"),
        (10, "2025-12-10 08:00", "2025-12-10 00:00", "2026-01-10 00:00"),
    ],
)
def test_a_data_month_begins_at_midnight_of_the_chosen_day(day: int, now: str, begin: str, end: str) -> None:
    assert told(month_begin(day, at(now), BERLIN)) == begin
    assert told(month_end(day, at(now), BERLIN)) == end


@given(st.integers(1, 28), st.integers(0, 4_000_000_000))
def test_every_moment_is_in_its_data_month(day: int, now: int) -> None:
    assert month_begin(day, now, BERLIN) <= now < month_end(day, now, BERLIN)


def hours(begin: str, until: str) -> Values:
    def minutes(text: str) -> int:
        return int(text[:2]) * 60 + int(text[3:])

    return {**DEFAULTS, "network_from": minutes(begin), "network_until": minutes(until)}


@pytest.mark.parametrize(
    ("begin", "until", "now", "is_open", "edge"),
    [
        ("00:00", "00:00", "2026-03-14 12:00", True, None),
        ("08:00", "18:00", "2026-03-14 12:00", True, "2026-03-14 18:00"),
        ("08:00", "18:00", "2026-03-14 18:00", False, "2026-03-15 08:00"),
        ("08:00", "18:00", "2026-03-14 07:59", False, "2026-03-14 08:00"),
        ("22:00", "06:00", "2026-03-14 23:00", True, "2026-03-15 06:00"),
        ("22:00", "06:00", "2026-03-14 05:59", True, "2026-03-14 06:00"),
        ("22:00", "06:00", "2026-03-14 06:00", False, "2026-03-14 22:00"),
        # The hour from two to three is skipped that night, and comes twice in autumn.
        ("22:00", "02:30", "2026-03-29 01:00", True, "2026-03-29 03:30"),
        ("02:30", "08:00", "2026-10-25 01:00", False, "2026-10-25 02:30"),
    ],
)
def test_the_network_is_used_in_its_hours(begin: str, until: str, now: str, is_open: bool, edge: str | None) -> None:
    use = network_use(hours(begin, until), 0, at(now), BERLIN)
    assert (use.open, told(use.next_edge)) == (is_open, edge)


@given(st.integers(0, 1439), st.integers(0, 1439), st.integers(1_700_000_000, 1_800_000_000))
def test_the_next_edge_lies_ahead_and_within_two_days(opens: int, closes: int, now: int) -> None:
    use = network_use({**DEFAULTS, "network_from": opens, "network_until": closes}, 0, now, BERLIN)
    assert (use.next_edge is None) == (opens == closes)
    assert use.next_edge is None or now < use.next_edge <= now + 2 * 86_400

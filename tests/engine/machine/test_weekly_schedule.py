"""The week in the computer's zone, which may change under the program's feet."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.preferences.schedule import PRESETS, Level, Outlook, outlook
from core.api.preferences.week_text import NEVER, preset_cells
from core.engine.machine.weekly_schedule import WeeklySchedule, local_zone

START = datetime(2026, 3, 27, tzinfo=UTC).timestamp()
ZONES = (ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu"))
steps = st.lists(
    st.tuples(st.floats(-90_000, 90_000), st.sampled_from(ZONES), st.sampled_from(PRESETS)), min_size=1, max_size=20
)


@pytest.fixture
def zone_of_the_system() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch
    time.tzset()


@given(steps)
def test_what_it_remembers_is_what_it_would_find_again(steps: list[tuple[float, tzinfo, str]]) -> None:
    now, zone = START, ZONES[0]
    weekly_schedule = WeeklySchedule(NEVER, lambda: zone)
    for passed, new_zone, preset in steps:
        # The zone is looked at again after half a minute.
        now += passed if abs(passed) > 31 else 31
        zone = new_zone  # type: ignore[assignment]  # all of them are zones
        weekly_schedule.change(preset_cells(preset))  # type: ignore[arg-type]  # drawn from the presets
        assert (
            weekly_schedule.outlook(now)
            == weekly_schedule.outlook(now + 0.25)
            == outlook(weekly_schedule.cells, now, zone)
        )


def test_between_two_edges_nothing_is_computed_again() -> None:
    weekly_schedule = WeeklySchedule(preset_cells("nights"), lambda: UTC)
    first = weekly_schedule.outlook(START)
    assert weekly_schedule.outlook(START + 5.9 * 3600) is first
    assert weekly_schedule.outlook(START + 6 * 3600) == Outlook(Level.OFF, Level.FULL, START + 22 * 3600)
    assert weekly_schedule.outlook(START - 1) == first


def test_the_zone_is_read_once_in_half_a_minute_and_after_a_jump_of_the_clock() -> None:
    reads: list[float] = []

    def read() -> tzinfo:
        reads.append(now)
        return UTC

    weekly_schedule = WeeklySchedule(NEVER, read)
    for now in (START, START + 29, START + 30, START + 31, START - 5):
        weekly_schedule.outlook(now)
    assert reads == [START, START + 30, START - 5]


def test_the_zone_is_that_of_the_systems_settings(zone_of_the_system: pytest.MonkeyPatch) -> None:
    zone_of_the_system.setenv("TZ", "Australia/Lord_Howe")
    assert local_zone() == ZoneInfo("Australia/Lord_Howe")
    assert WeeklySchedule(NEVER).zone_name(START) == "Australia/Lord_Howe"


def test_a_zone_that_only_the_c_library_understands_has_its_present_offset(
    zone_of_the_system: pytest.MonkeyPatch,
) -> None:
    zone_of_the_system.setenv("TZ", "ABC-3:30")
    assert local_zone().utcoffset(None) == timedelta(hours=3, minutes=30)

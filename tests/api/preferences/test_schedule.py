"""The week as arithmetic on local time, through every way in which clocks are put forward and back."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.errors import UsageError
from core.api.preferences.schedule import CELL, CELLS, CELLS_A_DAY, MARKS, Level, Outlook, level_at, outlook, read
from core.api.preferences.week_text import parse, preset_cells

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")
LORD_HOWE, KATHMANDU = ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Asia/Kathmandu")
ZONES = (BERLIN, NEW_YORK, LORD_HOWE, KATHMANDU, UTC)
NIGHTS, WEEKENDS = preset_cells("nights"), preset_cells("weekends")
YEAR = 365 * 86_400
START = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

weeks = st.one_of(
    st.text("".join(MARKS), min_size=CELLS, max_size=CELLS),
    # Whole days of one level, as people paint them.
    st.lists(st.sampled_from(list(MARKS)), min_size=7, max_size=7).map(
        lambda days: "".join(mark * CELLS_A_DAY for mark in days)
    ),
)
moments = st.floats(START, START + 2 * YEAR)
zones = st.sampled_from(ZONES)


def utc(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def wall(text: str, zone: tzinfo, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone, fold=fold).timestamp()


@given(weeks, moments, zones)
def test_the_level_is_that_of_the_cell_of_local_time(cells: str, moment: float, zone: tzinfo) -> None:
    local = datetime.fromtimestamp(moment, zone)
    minute = local.weekday() * 1440 + local.hour * 60 + local.minute
    assert level_at(cells, moment, zone) is MARKS[cells[minute // CELL]]


@given(weeks, moments, zones)
def test_the_next_edge_is_the_first_moment_with_another_level(cells: str, moment: float, zone: tzinfo) -> None:
    seen = outlook(cells, moment, zone)
    assert seen.level is level_at(cells, moment, zone)
    # Every zone here has offsets of whole quarters of an hour, so local time enters cells at such moments only.
    quarter = moment // 900 * 900
    quarters = [quarter + 900 * number for number in range(1, 9 * 96)]
    following = next((at for at in quarters if level_at(cells, at, zone) is not seen.level), None)
    assert seen.next_at == following
    assert seen.next_level is (None if following is None else level_at(cells, following, zone))


@given(weeks.filter(lambda cells: len(set(cells)) > 1), moments, zones)
def test_a_week_that_changes_does_so_within_a_week_and_what_daylight_saving_skips(
    cells: str, moment: float, zone: tzinfo
) -> None:
    edge = outlook(cells, moment, zone).next_at
    assert edge is not None
    assert moment < edge <= moment + 8 * 86_400


@pytest.mark.parametrize("mark", MARKS)
def test_a_week_of_one_level_never_changes(mark: str) -> None:
    assert outlook(mark * CELLS, START, BERLIN) == Outlook(MARKS[mark])


@pytest.mark.parametrize(
    ("cells", "moment", "zone", "level", "edge"),
    [
        # Spring in Berlin: 02:00 becomes 03:00 on 29 March 2026. A night is an hour shorter.
        (NIGHTS, wall("2026-03-28T22:00", BERLIN), BERLIN, Level.FULL, wall("2026-03-29T06:00", BERLIN)),
        # An edge at 02:30, which does not exist, comes at 03:00, when that cell would have begun already.
        (parse("sun 02:30-24:00"), wall("2026-03-29T01:50", BERLIN), BERLIN, Level.OFF, utc("2026-03-29T01:00")),
        # A window inside the hour that is skipped is skipped.
        (parse("sun 02:00-03:00"), wall("2026-03-29T01:50", BERLIN), BERLIN, Level.OFF,
         wall("2026-04-05T02:00", BERLIN)),
        # Autumn in Berlin: 03:00 becomes 02:00 on 25 October 2026. The window of that hour comes twice.
        (parse("sun 02:00-02:30"), wall("2026-10-25T02:10", BERLIN), BERLIN, Level.FULL, utc("2026-10-25T00:30")),
        (parse("sun 02:00-02:30"), wall("2026-10-25T02:40", BERLIN), BERLIN, Level.OFF, utc("2026-10-25T01:00")),
        (parse("sun 02:00-02:30"), wall("2026-10-25T02:10", BERLIN, 1), BERLIN, Level.FULL, utc("2026-10-25T01:30")),
        # New York, both ways: 8 March and 1 November 2026 at 02:00.
        (NIGHTS, wall("2026-03-08T01:59", NEW_YORK), NEW_YORK, Level.FULL, utc("2026-03-08T10:00")),
        (NIGHTS, wall("2026-11-01T01:30", NEW_YORK), NEW_YORK, Level.FULL, utc("2026-11-01T11:00")),
        # Lord Howe moves by half an hour: back on 5 April, forward on 4 October 2026, at 02:00.
        (parse("sun 01:30-02:00"), wall("2026-04-05T01:40", LORD_HOWE), LORD_HOWE, Level.FULL, utc("2026-04-04T15:30")),
        (parse("sun 02:00-02:30"), wall("2026-10-04T01:40", LORD_HOWE), LORD_HOWE, Level.OFF,
         wall("2026-10-11T02:00", LORD_HOWE)),
        # Kathmandu is 5 h 45 min ahead, and stays there.
        (NIGHTS, utc("2026-06-01T16:14:59"), KATHMANDU, Level.OFF, utc("2026-06-01T16:15")),
        (WEEKENDS, utc("2026-06-05T18:15"), KATHMANDU, Level.FULL, utc("2026-06-07T18:15")),
    ],
)  # fmt: skip
def test_edges_through_daylight_saving(cells: str, moment: float, zone: tzinfo, level: Level, edge: float) -> None:
    seen = outlook(cells, moment, zone)
    assert (seen.level, seen.next_at) == (level, edge)


def test_at_the_edge_itself_the_new_level_counts_and_the_edge_is_the_next_one() -> None:
    edge = wall("2026-06-01T22:00", BERLIN)
    assert level_at(NIGHTS, edge - 0.001, BERLIN) is Level.OFF
    assert outlook(NIGHTS, edge - 0.001, BERLIN).next_at == edge
    assert outlook(NIGHTS, edge, BERLIN) == Outlook(Level.FULL, Level.OFF, edge + 8 * 3600)


def test_another_zone_is_another_outlook() -> None:
    evening = wall("2026-06-01T23:00", BERLIN)
    assert level_at(NIGHTS, evening, BERLIN) is Level.FULL
    assert outlook(NIGHTS, evening, NEW_YORK) == Outlook(Level.OFF, Level.FULL, wall("2026-06-01T22:00", NEW_YORK))


def test_a_zone_that_jumps_within_a_cell_is_found_to_the_second() -> None:
    class Odd(tzinfo):
        """Ten minutes and seven seconds forward at 00:12:34 UTC, as zones did before they were standards."""

        jump = datetime(2026, 6, 1, 0, 12, 34, tzinfo=UTC)

        def utcoffset(self, at: datetime | None) -> timedelta:
            assert at is not None
            return timedelta(minutes=10, seconds=7) if at.replace(tzinfo=UTC) >= self.jump else timedelta()

        def dst(self, at: datetime | None) -> timedelta:
            return timedelta()

        def tzname(self, at: datetime | None) -> str:
            return "odd"

        def fromutc(self, at: datetime) -> datetime:
            return at + self.utcoffset(at)

    # 00:12:34 becomes 00:22:41; the cell goes on, and ends ten minutes early.
    assert outlook(parse("mon 00:30-01:00"), utc("2026-06-01T00:05"), Odd()).next_at == utc("2026-06-01T00:19:53")


@pytest.mark.parametrize("text", ["", "f" * 335, "f" * 337, "x" * CELLS, "F" * CELLS])
def test_what_is_no_week_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="schedule"):
        read(text)


def test_a_drawing_of_seven_lines_is_read() -> None:
    assert read("\n".join(["f" * CELLS_A_DAY] * 7) + "\n") == "f" * CELLS

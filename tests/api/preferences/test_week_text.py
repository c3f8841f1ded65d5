import pytest

from core.api.errors import UsageError
from core.api.preferences.schedule import CELLS, CELLS_A_DAY, PRESETS, Preset
from core.api.preferences.week_text import parse, preset_cells, preset_of

MON, TUE, FRI, SAT, SUN = 0, 1, 4, 5, 6


def hours(cells: str, day: int) -> str:
    """One mark an hour; no week here changes within one."""
    own = cells[day * CELLS_A_DAY : (day + 1) * CELLS_A_DAY]
    assert own[::2] == own[1::2]
    return own[::2]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_found_by_its_name_and_by_its_cells(preset: Preset) -> None:
    cells = preset_cells(preset)
    assert len(cells) == CELLS
    assert parse(preset) == parse(preset.replace("_", " ").title()) == parse(preset.replace("_", "-")) == cells
    assert preset_of(cells) == preset


def test_the_presets_mean_what_they_say() -> None:
    assert set(preset_cells("always")) == {"f"}
    assert {hours(preset_cells("nights"), day) for day in range(7)} == {"f" * 6 + "." * 16 + "f" * 2}
    weekends = preset_cells("weekends")
    assert [hours(weekends, day)[0] for day in range(7)] == [*".....", "f", "f"]
    day_off = preset_cells("working_day_off")
    assert hours(day_off, FRI) == "f" * 8 + "." * 10 + "f" * 6
    assert hours(day_off, SAT) == "f" * 24


def test_a_window_over_midnight_belongs_to_the_day_it_starts_on() -> None:
    cells = parse("fri 22:00-06:00")
    assert hours(cells, FRI) == "." * 22 + "ff"
    assert hours(cells, SAT) == "f" * 6 + "." * 18
    assert cells.count("f") == 16


def test_a_window_from_sunday_runs_into_monday() -> None:
    cells = parse("sun 22:00-06:00 gentle")
    assert hours(cells, SUN)[22:] + hours(cells, MON)[:7] == "gg" + "g" * 6 + "."


def test_later_windows_paint_over_earlier_ones() -> None:
    cells = parse("daily; mon-fri 08:00-18:00 gentle; tue 12:00-13:00 off")
    assert hours(cells, MON) == "f" * 8 + "g" * 10 + "f" * 6
    assert hours(cells, TUE) == "f" * 8 + "gggg.ggggg" + "f" * 6


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("mon - wed 8:00 - 10:30 gentle", "mon,tue,wed 08:00-10:30 gentle"),
        ("FRI-MON", "fri,sat,sun,mon"),
        ("mon gentle 08:00-10:00", "mon 08:00-10:00 gentle"),
        ("mon\n\n# a comment\ntue # another\n", "mon; tue;"),
        ("mon 08:00-08:00", "mon 08:00-24:00; tue 00:00-08:00"),
        ("mon full", "mon 00:00-24:00"),
    ],
)
def test_windows_may_be_written_in_several_ways(text: str, same: str) -> None:
    assert parse(text) == parse(same)


def test_marks_are_read_as_they_are_drawn() -> None:
    cells = parse("mon-fri 22:00-06:00 gentle; sat")
    rows = [cells[start : start + CELLS_A_DAY] for start in range(0, CELLS, CELLS_A_DAY)]
    assert parse("# my week\n" + "\n".join(rows)) == parse(cells) == cells


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("# nothing", "empty"),
        ("summer", "schedule_unclear part=summer window=summer"),
        ("mon-x", "schedule_unclear part=mon-x window=mon-x"),
        ("mon 08:00", "schedule_unclear part=08:00 window=mon 08:00"),
        ("mon 08:00-12:00 half", "schedule_unclear part=half"),
        ("mon; 08:00-12:00", "schedule_unclear part=08:00-12:00 window=08:00-12:00"),
        ("mon 08:10-12:00", "schedule_not_half_hours window=08:10-12:00"),
        ("mon 24:00-02:00", "schedule_window_invalid"),
        ("mon 10:60-12:00", "schedule_window_invalid"),
        ("mon 20:00-24:30", "schedule_window_invalid"),
        ("fff", "schedule_length needed=336 given=3"),
    ],
)
def test_what_is_no_week_is_told_with_the_part_that_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        parse(text)

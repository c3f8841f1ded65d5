"""What can be done to a week, and how it reads."""

import pytest

from app.text.typed import week
from app.text.typed.week import Cell
from core.api.preferences.schedule import CELLS, CELLS_A_DAY, Level, read

FRIDAY = 4


def test_painting_changes_these_half_hours_of_these_days_alone() -> None:
    painted = week.painted(week.ALWAYS, [0, FRIDAY], range(44, 48), Level.OFF)
    assert read(painted) == painted
    assert painted.count(".") == 8
    assert week.level_at(painted, Cell(FRIDAY, 44)) is Level.OFF
    assert week.level_at(painted, Cell(FRIDAY, 43)) is Level.FULL
    assert week.level_at(painted, Cell(1, 44)) is Level.FULL


def test_hours_are_counted_by_level() -> None:
    painted = week.painted(week.ALWAYS, range(5), range(16, 36), Level.OFF)
    painted = week.painted(painted, [5], range(CELLS_A_DAY), Level.GENTLE)
    assert week.hours(painted, Level.OFF) == 50
    assert week.hours(painted, Level.GENTLE) == 24
    assert week.hours(painted, *Level) == 7 * 24


def test_the_space_bar_goes_round_all_levels() -> None:
    seen = [Level.OFF]
    for _ in range(len(Level)):
        seen.append(week.next_level(seen[-1]))
    assert set(seen) == set(Level)
    assert seen[-1] is Level.OFF


@pytest.mark.parametrize(("slots", "text"), [(range(1), "00:00 to 00:30"), (range(44, 48), "22:00 to midnight")])
def test_a_span_says_from_when_to_when(slots: range, text: str) -> None:
    assert week.span_text(slots) == text


def test_every_level_and_day_has_its_words() -> None:
    assert len({week.level_name(level) for level in Level}) == len({week.power_name(level) for level in Level}) == 3
    assert len(week.ALWAYS) == CELLS

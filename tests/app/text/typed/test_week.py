"""What can be done to a week, and how it reads."""

import re

import pytest

from app.cli.console import language
from app.text.formats import times
from app.text.i18n import tr
from app.text.messages import sentence
from app.text.typed import week
from app.text.typed.week import Cell
from core.api.errors import UsageError
from core.api.message import Message
from core.api.preferences import week_text
from core.api.preferences.schedule import CELLS, CELLS_A_DAY, Level, read
from core.api.preferences.week_text import preset_cells
from tests.translations import TRANSLATED

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


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", TRANSLATED)
def test_a_week_is_typed_in_the_words_of_the_language_or_in_english(code: str) -> None:
    english = "mon-fri 18:00-08:00; sat,sun; daily gentle 12:00-14:00; wed off"
    cells = week.parse(english)
    language.use(code)
    monday, wednesday, friday, saturday, sunday = (times.short_weekday(day) for day in (0, 2, 4, 5, 6))
    gentle, off = week.level_name(Level.GENTLE), week.level_name(Level.OFF)
    own = f"{monday}–{friday} 18:00-08:00; {saturday}, {sunday}; {tr('daily')} {gentle} 12:00-14:00; {wednesday} {off}"
    assert week.parse(own.title() if code in ("de", "fr", "es", "pt_BR") else own) == cells
    assert week.parse(f"{times.weekday(0)} - {times.weekday(4)}") == week.parse("mon-fri")
    assert week.parse(english) == cells
    assert all(week.parse(name) == preset_cells(preset) for preset, name in week.preset_names().items())


@pytest.mark.usefixtures("english_again")
def test_wide_marks_and_words_without_spaces_are_understood() -> None:
    language.use("zh_CN")
    assert week.parse("周一-周五 18：00-08：00；每天12:00-14:00 温和") == week.parse(
        "mon-fri 18:00-08:00; daily 12:00-14:00 gentle"
    )


@pytest.mark.usefixtures("english_again")
def test_what_is_not_understood_is_named_as_it_was_typed() -> None:
    language.use("de")
    with pytest.raises(UsageError, match="part=sommer window=mo-fr sommer"):
        week.parse("Sa; Mo-Fr Sommer")


@pytest.mark.usefixtures("english_again")
@pytest.mark.parametrize("code", ["en", *TRANSLATED])
@pytest.mark.parametrize("kind", ["schedule_empty", "schedule_unclear"])
def test_the_example_of_a_window_can_be_typed(code: str, kind: str) -> None:
    language.use(code)
    example = re.findall("[“„«]([^“”„«»]*22:00-06:00[^“”„«»]*)[”“»]", sentence(Message(kind)))
    assert week.parse(example[0].strip()) == week_text.parse("mon-fri 22:00-06:00 gentle")

"""The history page against the scripted engine: ranges, filters, and the words on it."""

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFontMetrics, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.history.charts.bars import axis_labels, following, starts
from app.history.menu_button import MenuButton
from app.history.page import HistoryPage
from app.history.time_range import TimeRange, midnight
from app.text import history
from app.text.wordings.reasons import REASONS
from app.widgets import theme
from app.widgets.basic import Label
from app.widgets.theme import Type
from app.window.main_window import MainWindow
from core.api.errors import UsageError
from core.api.message import Message
from core.api.record.record import (
    Bar,
    Cost,
    GetOverview,
    GetSessions,
    ImportHistory,
    Overview,
    Sums,
)
from tests.app.full_engine import settle
from tests.app.history.record import DAY, LEFT, OVERVIEW, SINCE, SUMS, session
from tests.app.page_checks import SMALLEST
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine


def test_the_figures_stand_in_the_tiles_with_where_they_are_from(page: HistoryPage) -> None:
    assert (page.figures.time.figure.text(), page.figures.time.unit.text()) == ("10", "h")
    assert page.figures.samples.figure.text() == "900"
    assert "1\N{NARROW NO-BREAK SPACE}000 computed" in page.figures.samples.caption.text()
    assert (page.figures.energy.figure.text(), page.figures.energy.unit.text()) == ("1", "kWh")
    assert "0.31" in page.figures.energy.caption.text()
    assert "50\N{NO-BREAK SPACE}% is an estimate" in page.figures.energy.caption.text()
    assert page.figures.network.figure.text() == "12.0"


def test_a_day_that_is_clicked_becomes_the_range_and_back_leads_out(
    page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    asked = len(engine.received(GetOverview))
    QTest.mouseClick(page.days.calendar, LEFT, pos=page.days.calendar.area(59).center().toPoint())
    begin, end = midnight(date(2026, 3, 1)), midnight(date(2026, 3, 2))
    assert (engine.wait_for(GetOverview, asked + 1).since, engine.received(GetOverview)[-1].until) == (begin, end)
    assert engine.wait_for(GetSessions, 2).since == begin
    assert not any(button.isChecked() for button in page.ranges.values())
    QTest.mouseClick(page.ranges["all"], LEFT)
    assert engine.wait_for(GetOverview, asked + 2).since is None


def test_a_bar_that_is_clicked_becomes_the_range(page: HistoryPage, engine: ScriptedEngine) -> None:
    asked = len(engine.received(GetOverview))
    bars = page.projects.bars
    place = next(x for x in range(50, bars.width()) if bars.place_at(QPointF(x, 0)) == 0)
    QTest.mouseClick(bars, LEFT, pos=QPointF(place, 50).toPoint())
    chosen = engine.wait_for(GetOverview, asked + 1)
    assert (chosen.since, chosen.until) == (SINCE, SINCE + DAY)


def test_calendar_and_bars_can_be_used_by_keyboard(page: HistoryPage, engine: ScriptedEngine) -> None:
    page.days.calendar.setFocus()
    QTest.keyClick(page.days.calendar, Qt.Key.Key_Right)
    assert "8 January 2026: nothing" in page.days.calendar.accessibleDescription().replace(SPACE, " ")
    asked = len(engine.received(GetOverview))
    QTest.keyClick(page.days.calendar, Qt.Key.Key_Return)
    assert engine.wait_for(GetOverview, asked + 1).since == midnight(date(2026, 1, 8))


def test_another_year_is_asked_for_and_the_range_stays(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    QTest.mouseClick(page.days.earlier, LEFT)
    qtbot.waitUntil(lambda: page.overview is not None and page.overview.year == 2025)
    assert not page.days.earlier.isEnabled()
    assert page.days.later.isEnabled()


def test_habits_are_told_in_a_sentence(page: HistoryPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: page.habits.week.accessibleName() == "You give most at night.")
    assert page.habits.reasons.accessibleName() == f"computer in use 2{SPACE}h"


def test_sessions_are_filtered_and_more_are_fetched_at_the_end(
    page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    model = page.sessions.table.sessions
    assert model.data(model.index(1, 6)) == "still running"
    page.sessions.filter_project("m")
    assert engine.wait_for(GetSessions, 2).project == "m"
    engine.answer(
        GetSessions, lambda ask: [session(0, SINCE)] if ask.before else [session(n, SINCE + n) for n in range(200)]
    )
    page.sessions.filter_ending("paused")
    qtbot.waitUntil(lambda: model.rowCount() == 200)
    assert model.canFetchMore(model.index(0, 0))
    model.fetchMore(model.index(0, 0))
    qtbot.waitUntil(lambda: model.rowCount() == 201)
    assert engine.received(GetSessions)[-1].before == SINCE + 199


def test_an_answer_to_an_earlier_range_is_dropped(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    old, new = (msgspec.structs.replace(OVERVIEW, sessions=number) for number in (111, 222))
    engine.answer(GetOverview, lambda ask: old if ask.since is not None else new)
    page.choose(TimeRange("month"))
    page.choose(TimeRange("all"))
    qtbot.waitUntil(lambda: page.overview is not None and page.overview.sessions == 222)
    qtbot.wait(100)
    assert page.overview is not None
    assert page.overview.sessions == 222


def test_an_empty_record_says_so(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(GetOverview, Overview(0.0, 0.0, None, Sums(), 0, Cost(), (), "day", (), 2026, (), (), ()))
    page.refresh()
    qtbot.waitUntil(page._empty.isVisible)
    assert not page._full.isVisible()


def test_a_refusal_is_shown_on_the_page(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ImportHistory, UsageError("notes.txt is no history."))
    page.files.import_file(Path("/tmp/notes.txt"))
    qtbot.waitUntil(lambda: page.problem.label.text() == "notes.txt is no history.")


def test_every_reason_has_few_words() -> None:
    assert [kind for kind, words in REASONS.items() if not words.brief] == []
    assert history.reason("on_battery") == "on battery"
    assert history.reason("The disk is full.") == "The disk is full."


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda hour: hour % 24 >= 22, "You give most at night."),
        (lambda hour: 8 <= hour % 24 < 12, "You give most in the morning."),
        (lambda hour: hour >= 120, "You give most at weekends."),
        (lambda hour: True, "You give equally at all hours."),
        (lambda hour: False, ""),
    ],
)
def test_a_habit_is_told_if_there_is_one(given: Callable[[int], bool], sentence: str) -> None:
    assert history.habit([float(given(hour)) for hour in range(168)]) == sentence


def test_bars_follow_each_other_over_the_change_of_the_clock(london: None) -> None:
    begin, end = (datetime(2026, month, 1).timestamp() for month in (3, 5))  # noqa: DTZ001 - local on purpose
    days = starts("day", begin, end)
    assert len(days) == 61
    assert all(datetime.fromtimestamp(day).hour == 0 for day in days)  # noqa: DTZ006
    assert following("month", begin) == datetime(2026, 4, 1).timestamp()  # noqa: DTZ001


def test_comparisons_are_left_out_where_nothing_is_known() -> None:
    assert history.comparisons(Sums(seconds=5.0)) == []
    assert len(history.comparisons(SUMS)) == 2


@pytest.mark.parametrize(
    ("most", "labels"), [(3700.0, ["0", "0.5 h", "1.0 h"]), (3600.0 * 50, ["0", "20 h", "40 h"]), (90.0, 4)]
)
def test_the_axis_of_times_has_the_digits_of_its_step_and_room_for_them(
    page: HistoryPage, most: float, labels: list[str] | int
) -> None:
    found = [text.replace(SPACE, " ") for text in axis_labels(most).values()]
    assert found == labels if isinstance(labels, list) else len(found) == labels
    page.projects.bars.show_overview(msgspec.structs.replace(OVERVIEW, bars=(Bar(SINCE, 0, most, 8),)))
    widest = max(map(QFontMetrics(theme.font(Type.CAPTION)).horizontalAdvance, axis_labels(most).values()))
    assert page.projects.bars._room >= widest


def test_projects_of_the_same_name_are_told_apart(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    same = tuple(msgspec.structs.replace(project, name="Bees") for project in OVERVIEW.projects)
    page.show_overview(msgspec.structs.replace(OVERVIEW, projects=same))
    legend = [label.text() for label in page.projects.findChildren(Label) if "(" in label.text()]
    assert legend == ["Bees (b)", "Bees (m)"]
    assert "Bees (m)" in [action.text() for action in page.sessions._projects._menu.actions()]


def test_long_names_of_projects_make_no_page_wider(page: HistoryPage, window: MainWindow) -> None:
    """Organisers choose the names; the end, which tells equal ones apart, stays readable."""
    name = "Birdsong of all continents, heard by day and by night " * 3
    same = tuple(msgspec.structs.replace(project, name=name) for project in OVERVIEW.projects)
    window.resize(SMALLEST)
    page.show_overview(msgspec.structs.replace(OVERVIEW, projects=same))
    for button in set(page.findChildren(MenuButton)) - {page.sessions._endings}:
        button.offer({f"{name}({letter})": letter for letter in "bm"}, "b")
    settle(window)
    assert page.horizontalScrollBar().maximum() == 0
    legend = [label.text()[-3:] for label in page.projects.findChildren(Label) if label.toolTip().startswith(name)]
    assert legend == ["(b)", "(m)"]


def test_sessions_that_gave_nothing_are_folded_away(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    nothing = [msgspec.structs.replace(session(n, SINCE + n), ending=Message("done"), sums=Sums()) for n in (5, 4, 3)]
    engine.answer(GetSessions, [session(9, SINCE + 9), *nothing, session(1, SINCE + 1)])
    page.refresh()
    model = page.sessions.table.sessions
    qtbot.waitUntil(lambda: model.rowCount() == 2 and page.sessions.folded.isVisible())
    assert page.sessions.folded.text() == "Show 3 that gave nothing"
    QTest.mouseClick(page.sessions.folded, LEFT)
    assert model.rowCount() == 5
    QTest.mouseClick(page.sessions.folded, LEFT)
    assert model.rowCount() == 2


def test_a_header_begins_where_its_column_does_and_is_whole(page: HistoryPage, qtbot: QtBot) -> None:
    table = page.sessions.table
    header = table.horizontalHeader()
    assert header.height() >= header.fontMetrics().height() + 2
    heads, rows = header.viewport().grab().toImage(), table.viewport().grab().toImage()
    wide = header.sectionSize(0)
    rows = rows.copy(0, 0, wide, table.rowHeight(0) - 2)
    # The first letters, "B" and a digit, have next to no space on their left.
    assert abs(first_ink(heads.copy(0, 0, wide, header.height() - 2)) - first_ink(rows)) <= 2


def first_ink(picture: QImage) -> int:
    """The leftmost column of pixels with more than one colour."""
    lines = range(picture.height())
    return next(x for x in range(picture.width()) if len({picture.pixel(x, y) for y in lines}) > 1)


def test_a_session_that_a_limit_ended_says_so_in_few_words_and_in_full(
    page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    over = Message("memory_over_limit", {"held": 3_000_000_000, "allowed": 2_000_000_000})
    engine.answer(GetSessions, [msgspec.structs.replace(session(1, SINCE), ending=over)])
    page.refresh()
    model = page.sessions.table.sessions
    qtbot.waitUntil(lambda: model.rowCount() == 1 and model.data(model.index(0, 6)) == "memory limit reached")
    told = model.data(model.index(0, 6), Qt.ItemDataRole.ToolTipRole).replace(SPACE, " ")
    assert told.startswith("The session holds 3.0 GB of memory, more than your limit of 2.0 GB.")
    assert "…" not in history.reason("memory_over_limit")


def test_the_page_says_of_when_it_is(page: HistoryPage) -> None:
    now = datetime.now().astimezone()
    assert page._title.text().startswith("Last 365 days, as of ")
    shown = page._title.text()[-5:]
    minutes = now.hour * 60 + now.minute - int(shown[:2]) * 60 - int(shown[3:])
    assert minutes % 1440 in {0, 1}

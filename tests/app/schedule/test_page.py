"""The schedule page: painting by pointer and keyboard, presets, undo, and what the week says."""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.home.day_strip import DayStrip
from app.schedule.page import SchedulePage
from app.schedule.week_grid import WeekGrid
from app.schedule.week_painter import WeekGeometry
from app.text import schedule
from app.text.typed import week
from app.text.typed.week import Cell
from app.widgets.basic import Label
from app.window.main_window import MainWindow
from core.api.errors import WorldError
from core.api.preferences.commands import SetPreference
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.schedule import CELLS, CELLS_A_DAY, Level, ScheduleState
from core.api.preferences.week_text import preset_cells
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen, info

Show = Callable[[Snapshot], None]
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NIGHTS = preset_cells("nights")
CORES = os.cpu_count() or 1
LIMITS = (
    ("processor_share", 80),
    ("gentle.processor_share", 30),
    ("upload_limit", 1_000_000),
    ("gentle.upload_limit", 250_000),
)


@pytest.fixture
def chosen(engine: ScriptedEngine) -> Chosen:
    known = Chosen(engine)
    for name, value in LIMITS:
        known.change(name, value)
    return known


@pytest.fixture
def page(window: MainWindow, chosen: Chosen, engine: ScriptedEngine, qtbot: QtBot) -> SchedulePage:
    window.open_page(2)
    opened = window.page(2)
    assert isinstance(opened, SchedulePage)
    qtbot.waitUntil(opened.presets["always"].isChecked)
    qtbot.waitUntil(opened.grid.isEnabled)
    return opened


def at(grid: WeekGrid, row: int, slot: int) -> QPoint:
    return WeekGeometry(grid.width(), grid.height()).cell(row, slot).center().toPoint()


def drag(grid: WeekGrid, start: QPoint, end: QPoint, button: Qt.MouseButton = LEFT) -> None:
    QTest.mousePress(grid, button, pos=start)
    QTest.mouseMove(grid, end)
    QTest.mouseRelease(grid, button, pos=end)


def texts(page: SchedulePage) -> str:
    return "\n".join(label.text() for label in page.findChildren(Label) if label.isVisible()).replace(SPACE, " ")


def off(*cells: Cell) -> str:
    painted = week.ALWAYS
    for cell in cells:
        painted = week.painted(painted, [cell.day], [cell.slot], Level.OFF)
    return painted


def test_dragging_paints_a_block_with_the_brush(page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    page.brushes[Level.GENTLE].click()
    drag(page.grid, at(page.grid, 0, 36), at(page.grid, 4, 43))
    wanted = week.painted(week.ALWAYS, range(5), range(36, 44), Level.GENTLE)
    assert engine.wait_for(SetPreference) == SetPreference("week", wanted)
    qtbot.waitUntil(lambda: not page.presets["always"].isChecked())
    assert page.grid.cells == wanted
    assert "of which 148 h at full power, 20 h gentle" in texts(page)


def test_a_stroke_is_a_preview_that_escape_takes_back(page: SchedulePage, engine: ScriptedEngine) -> None:
    page.brushes[Level.OFF].click()
    QTest.mousePress(page.grid, LEFT, pos=at(page.grid, 2, 10))
    QTest.mouseMove(page.grid, at(page.grid, 3, 20))
    assert page.grid.cells.count(".") == 22
    assert "Wednesday to Thursday, 05:00 to 10:30: off" in texts(page)
    QTest.keyClick(page.grid, Qt.Key.Key_Escape)
    QTest.mouseRelease(page.grid, LEFT, pos=at(page.grid, 3, 20))
    assert page.grid.cells == week.ALWAYS
    assert engine.received(SetPreference) == []


def test_the_right_button_paints_off(page: SchedulePage, engine: ScriptedEngine) -> None:
    drag(page.grid, at(page.grid, 6, 47), at(page.grid, 6, 47), RIGHT)
    assert engine.wait_for(SetPreference) == SetPreference("week", off(Cell(6, 47)))


def test_the_name_of_a_day_and_an_hour_paint_all_of_it(
    page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    drag(page.grid, QPoint(5, at(page.grid, 5, 0).y()), QPoint(5, at(page.grid, 6, 0).y()), RIGHT)
    weekend = week.painted(week.ALWAYS, [5, 6], range(CELLS_A_DAY), Level.OFF)
    assert engine.wait_for(SetPreference) == SetPreference("week", weekend)
    qtbot.waitUntil(page.undo_button.isVisible)
    noon = QPoint(at(page.grid, 0, 24).x(), 4)
    drag(page.grid, noon, noon, RIGHT)
    assert engine.wait_for(SetPreference, 2) == SetPreference(
        "week", week.painted(weekend, range(7), range(24, 26), Level.OFF)
    )


def test_painting_what_is_there_already_asks_nothing(page: SchedulePage, engine: ScriptedEngine) -> None:
    drag(page.grid, at(page.grid, 1, 1), at(page.grid, 1, 9))
    drag(page.grid, at(page.grid, 6, 47), at(page.grid, 6, 47), RIGHT)
    engine.wait_for(SetPreference)
    assert len(engine.received(SetPreference)) == 1


def test_arrows_move_shift_selects_and_numbers_paint(page: SchedulePage, engine: ScriptedEngine) -> None:
    grid = page.grid
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(grid, key)
    assert grid.accessibleName() == "Tuesday, 00:30 to 01:00: full"
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Right):
        QTest.keyClick(grid, key, Qt.KeyboardModifier.ShiftModifier)
    assert grid.accessibleName() == "Tuesday to Wednesday, 00:30 to 01:30: full"
    QTest.keyClick(grid, Qt.Key.Key_2)
    wanted = week.painted(week.ALWAYS, [1, 2], [1, 2], Level.GENTLE)
    assert engine.wait_for(SetPreference) == SetPreference("week", wanted)


def test_space_changes_the_level_of_the_focused_half_hour(
    page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    QTest.keyClick(page.grid, Qt.Key.Key_End)
    QTest.keyClick(page.grid, Qt.Key.Key_Space)
    assert engine.wait_for(SetPreference) == SetPreference("week", off(Cell(0, 47)))
    qtbot.waitUntil(lambda: page.grid.accessibleName() == "Monday, 23:30 to midnight: off")


def test_presets_are_marked_when_the_engine_has_taken_them(
    page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page.presets["nights"].click()
    assert engine.wait_for(SetPreference) == SetPreference("week", NIGHTS)
    qtbot.waitUntil(page.presets["nights"].isChecked)
    assert not page.presets["always"].isChecked()
    assert page.grid.cells == NIGHTS
    engine.answer(SetPreference, WorldError("The disk is full."))
    page.presets["weekends"].click()
    qtbot.waitUntil(lambda: "The disk is full." in texts(page))
    assert page.presets["nights"].isChecked()
    assert not page.presets["weekends"].isChecked()


def test_a_refused_stroke_disappears(page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(SetPreference, WorldError("The disk is full."))
    drag(page.grid, at(page.grid, 1, 1), at(page.grid, 1, 9), RIGHT)
    qtbot.waitUntil(lambda: "The disk is full." in texts(page))
    assert page.grid.cells == week.ALWAYS


def test_undo_goes_back_step_by_step_and_redo_forth(page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    assert not page.undo_button.isVisible()
    page.presets["nights"].click()
    qtbot.waitUntil(page.presets["nights"].isChecked)
    drag(page.grid, at(page.grid, 0, 0), at(page.grid, 0, 0), RIGHT)
    painted = week.painted(NIGHTS, [0], [0], Level.OFF)
    qtbot.waitUntil(lambda: page.grid.cells == painted and not page.presets["nights"].isChecked())
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(page.grid, Qt.Key.Key_Z, control)
    qtbot.waitUntil(page.presets["nights"].isChecked)
    QTest.keyClick(page.grid, Qt.Key.Key_Z, control)
    qtbot.waitUntil(page.presets["always"].isChecked)
    assert not page.undo_button.isVisible()
    page.redo()
    qtbot.waitUntil(page.presets["nights"].isChecked)
    page.redo()
    qtbot.waitUntil(lambda: page.grid.cells == painted)


def test_the_levels_say_what_they_mean_in_numbers(page: SchedulePage, qtbot: QtBot) -> None:
    gentle = page.brushes[Level.GENTLE]
    qtbot.waitUntil(lambda: "30" in gentle.accessibleName())
    told = gentle.accessibleName().replace(SPACE, " ")
    assert told == f"Paint gentle: 1 of {CORES} threads, 30 % of the time · 2 Mbit/s up"
    full = f"{max(1, CORES // 2)} of {CORES} threads, 80 % of the time · 8 Mbit/s up"
    assert full in page.brushes[Level.FULL].accessibleName().replace(SPACE, " ")


def test_the_page_says_what_counts_now_and_what_comes_next(page: SchedulePage, show: Show, qtbot: QtBot) -> None:
    edge = time.time() + 7200
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE, Level.FULL, edge)))
    qtbot.waitUntil(lambda: "Gentle" in texts(page))
    assert "then full power" in texts(page)
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.OFF, Level.FULL, edge, True, edge)))
    qtbot.waitUntil(lambda: "You contribute in spite of the schedule until" in texts(page))


def test_the_home_page_tells_the_next_change_and_leads_here(window: MainWindow, chosen: Chosen, show: Show) -> None:
    edge = datetime(2099, 1, 1, 23, tzinfo=UTC).timestamp()
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE, Level.FULL, edge)))
    strip = window.home.findChild(DayStrip)
    assert strip is not None
    assert strip.accessibleName().startswith("Next change: full power, ")
    QTest.mouseClick(strip, LEFT)
    assert isinstance(window.page(2), SchedulePage)


def test_the_grid_starts_with_the_first_day_of_the_week_here(qtbot: QtBot) -> None:
    grid = WeekGrid(first_day=6)
    qtbot.addWidget(grid)
    assert grid.accessibleName() == "Sunday, 00:00 to 00:30: full"
    asked: list[str] = []
    grid.painted.connect(asked.append)
    grid.resize(grid.sizeHint())
    drag(grid, at(grid, 1, 0), at(grid, 1, 0), RIGHT)
    assert asked == [off(Cell(0, 0))]


@pytest.mark.parametrize("now", [None, (4, 0.5)])
def test_each_level_and_the_marker_can_be_seen(qtbot: QtBot, now: tuple[int, float] | None) -> None:
    grid = WeekGrid(first_day=0)
    qtbot.addWidget(grid)
    before = grid.grab().toImage()
    grid.show_cells("g" * CELLS)
    if now:
        grid.show_now(*now)
    gentle = grid.grab().toImage()
    grid.show_cells("." * CELLS)
    assert len({image.pixel(at(grid, 2, 9)) for image in (before, gentle, grid.grab().toImage())}) == 3


def test_a_week_that_never_changes_says_so() -> None:
    assert schedule.next_change(ScheduleState(Level.FULL), 0.0) == "Full power at all times"
    assert schedule.until(ScheduleState(Level.OFF), "." * CELLS, UTC, 0.0) == "at all times"


def test_a_level_grows_with_what_there_is_to_say(page: SchedulePage) -> None:
    brush = page.brushes[Level.FULL]
    brush.set_meaning("short")
    short = brush.heightForWidth(180)
    brush.set_meaning("100 % of the processor · 4 threads · 12 Mbit/s up · 80 Mbit/s down")
    assert brush.heightForWidth(180) > short


def test_nothing_is_cut_off_in_the_smallest_window(window: MainWindow, page: SchedulePage, qtbot: QtBot) -> None:
    window.resize(window.minimumSize())
    QTest.qWait(20)
    assert page.horizontalScrollBar().maximum() == 0


def test_all_of_the_processor_says_how_many_threads_that_is() -> None:
    limits = [info(name) for name in PREFERENCES]
    assert schedule.level_meaning(Level.FULL, limits, uses_gpu=False, cores=16) == "8 of 16 threads"
    chosen = [info("threads", 1), info("processor_share", 50)]
    meaning = schedule.level_meaning(Level.FULL, chosen, uses_gpu=False, cores=2).replace(SPACE, " ")
    assert meaning == "1 of 2 threads, 50 % of the time"


def test_gentle_and_clear_stand_beside_the_other_presets(page: SchedulePage, engine: ScriptedEngine) -> None:
    page.presets["gentle"].click()
    page.presets["never"].click()
    engine.wait_for(SetPreference, 2)
    assert engine.received(SetPreference) == [SetPreference("week", "g" * CELLS), SetPreference("week", "." * CELLS)]


def test_a_week_is_saved_under_a_name_chosen_again_and_removed(
    page: SchedulePage, engine: ScriptedEngine, profile: Profile, qtbot: QtBot
) -> None:
    own = page.own_weeks
    page.presets["nights"].click()
    qtbot.waitUntil(lambda: page._cells == NIGHTS)
    own.save(" Term ")
    assert Settings(profile).weeks == {"Term": NIGHTS}
    page.presets["always"].click()
    qtbot.waitUntil(lambda: page._cells != NIGHTS)
    own.fill()
    own.menu().actions()[0].trigger()
    qtbot.waitUntil(lambda: page._cells == NIGHTS)
    own.fill()
    assert own.menu().actions()[0].isChecked()
    removal = own.menu().actions()[-1].menu()
    assert isinstance(removal, QMenu)
    removal.actions()[0].trigger()
    assert Settings(profile).weeks == {}


def test_tab_goes_from_top_to_bottom(page: SchedulePage) -> None:
    first: QWidget = page.presets["always"]
    chain, widget = [first], first.nextInFocusChain()
    while widget is not first and widget is not None:
        if page.isAncestorOf(widget) and widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    tops = [each.mapTo(page, QPoint()).y() for each in chain]
    assert tops == sorted(tops)
    assert {type(each).__name__ for each in chain} >= {"ToggleButton", "OwnWeeks", "WeekGrid", "LevelButton"}

"""Painting the week by pointer and keyboard."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.schedule.page import SchedulePage
from app.schedule.week_grid import WeekGrid
from app.text.typed import week
from app.text.typed.week import Cell
from core.api.errors import WorldError
from core.api.preferences.commands import SetPreference
from core.api.preferences.schedule import CELLS, CELLS_A_DAY, Level
from tests.app.schedule.parts import LEFT, NIGHTS, RIGHT, at, drag, off, texts
from tests.fakes.scripted_engine import ScriptedEngine


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


def test_nothing_is_said_of_the_cursor_once_the_focus_is_elsewhere(page: SchedulePage, qtbot: QtBot) -> None:
    """The half hour that it was on may change then."""
    page.grid.setFocus()
    QTest.keyClick(page.grid, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: "Monday, 00:00 to 00:30: off" in texts(page))
    page.undo_button.setFocus()
    page.undo()
    qtbot.waitUntil(lambda: page.grid.cells == week.ALWAYS)
    assert "00:00 to 00:30" not in texts(page)


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

"""Strokes on the week, and what stands on the schedule page."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.schedule.page import SchedulePage
from app.schedule.week_grid import WeekGrid
from app.schedule.week_painter import WeekGeometry
from app.text.typed import week
from app.text.typed.week import Cell
from app.widgets.basic import Label
from core.api.preferences.schedule import Level
from core.api.preferences.week_text import preset_cells
from core.api.snapshot import Snapshot
from tests.app.spaces import SPACE

Show = Callable[[Snapshot], None]
LEFT, RIGHT = Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton
NIGHTS = preset_cells("nights")


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

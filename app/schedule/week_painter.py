"""The geometry of the week's cells, and how they are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from app.text.formats import times
from app.text.typed import week
from app.text.typed.week import Cell
from app.widgets import painting, theme
from app.widgets.swatch import level_colour
from app.widgets.theme import Type
from core.api.preferences.schedule import CELLS_A_DAY, Level

_LEFT = 48
_TOP = 22
_EDGE = 2.0
"""Room for the frame of the outermost cells."""
_HOURS_APART = 3
_HOUR_WIDTH = 56
_AROUND_NOW = 3.0


@dataclass(frozen=True)
class WeekGeometry:
    """Of a grid of a size in pixels."""

    width: float
    height: float

    @property
    def left(self) -> int:
        """Room for the names of the days."""
        return theme.scaled(_LEFT)

    @property
    def top(self) -> int:
        """Room for the hours."""
        return theme.scaled(_TOP)

    @property
    def cell_width(self) -> float:
        return (self.width - self.left - _EDGE) / CELLS_A_DAY

    @property
    def row_height(self) -> float:
        return (self.height - self.top - _EDGE) / 7

    def is_on_days(self, at: QPointF) -> bool:
        return at.x() < self.left

    def is_on_hours(self, at: QPointF) -> bool:
        return at.y() < self.top

    def place_at(self, at: QPointF) -> tuple[int, int]:
        """Row and slot; outside, the nearest."""
        row, slot = int((at.y() - self.top) // self.row_height), int((at.x() - self.left) // self.cell_width)
        return min(6, max(0, row)), min(CELLS_A_DAY - 1, max(0, slot))

    def area(self, rows: range, slots: range) -> QRectF:
        """The rectangle of these cells, with the gaps around them."""
        return QRectF(
            self.left + slots.start * self.cell_width,
            self.top + rows.start * self.row_height,
            len(slots) * self.cell_width,
            len(rows) * self.row_height,
        )

    def cell(self, row: int, slot: int) -> QRectF:
        across = 1.5 if self.cell_width > 10 else 1.0
        return self.area(range(row, row + 1), range(slot, slot + 1)).adjusted(across, 2, -across, -2)


class WeekPainter:
    """Paints one picture of the week."""

    def __init__(self, widget: QWidget, geometry: WeekGeometry, days: Sequence[int]) -> None:
        self._geometry = geometry
        self._days = days
        self._painter = painting.smooth(widget)

    def paint_labels(self, today: int | None) -> None:
        """Days on the left, today's in bold, and every third hour above."""
        now, painter, geometry = theme.tokens(), self._painter, self._geometry
        for row, day in enumerate(self._days):
            painter.setFont(theme.font(Type.LABEL if row == today else Type.CAPTION))
            painter.setPen(QColor(now.text if row == today else now.muted))
            where = QRectF(0, geometry.area(range(row, row + 1), range(1)).top(), geometry.left, geometry.row_height)
            name = times.short_weekday(day)
            painter.drawText(where, painting.BESIDE, name)
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(now.muted))
        for hour in range(0, 24, _HOURS_APART):
            left = geometry.area(range(1), range(hour * 2, hour * 2 + 1)).left()
            where = QRectF(left + 1, 0, theme.scaled(_HOUR_WIDTH), geometry.top - 4)
            painter.drawText(where, painting.ABOVE, times.hour(hour))

    def paint_cells(self, cells: str) -> None:
        painter = self._painter
        painter.setPen(Qt.PenStyle.NoPen)
        brushes = {level: level_colour(level) for level in Level}
        radius = min(theme.RADIUS_CELL, self._geometry.cell_width / 3)
        for row, day in enumerate(self._days):
            for slot in range(CELLS_A_DAY):
                painter.setBrush(brushes[week.level_at(cells, Cell(day, slot))])
                painter.drawRoundedRect(self._geometry.cell(row, slot), radius, radius)

    def paint_frame(self, rows: range, slots: range) -> None:
        """A frame around the selection or the stroke."""
        painting.outline(self._painter, theme.tokens().text, 2)
        self._painter.drawRoundedRect(self._geometry.area(rows, slots), theme.RADIUS_CELL, theme.RADIUS_CELL)

    def paint_now(self, row: int, share_of_day: float) -> None:
        """A line at this moment, with a seam so that it is seen on every level."""
        now = theme.tokens()
        area = self._geometry.area(range(row, row + 1), range(CELLS_A_DAY))
        middle = area.left() + area.width() * share_of_day
        line = QRectF(middle - 1.5, area.top() - 1, 3, area.height() + 2)
        self._painter.setPen(QPen(QColor(now.card), _AROUND_NOW))
        self._painter.setBrush(QColor(now.text))
        self._painter.drawRoundedRect(line, 1.5, 1.5)
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.drawRoundedRect(line, 1.5, 1.5)

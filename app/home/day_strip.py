"""The day's schedule as a strip with a marker at this moment, and the next change in words."""

import time
from datetime import datetime

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.text import schedule
from app.text.formats import times
from app.text.typed import week
from app.text.typed.week import Cell
from app.widgets import layouts, painting, theme
from app.widgets.basic import Card, Label
from app.widgets.swatch import level_colour
from app.widgets.theme import Type
from core.api.preferences.schedule import CELLS_A_DAY
from core.api.snapshot import Snapshot

_HEIGHT = 14
_GAP = 1.5
_NARROWEST = 180


class DayStrip(Card):
    """A click opens the schedule."""

    opened = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._words = Label("", Type.STRONG, wrap=True)
        self._words.setAlignment(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading)
        self._cells = _Cells()
        first, last = (Label(times.hour(hour), Type.CAPTION, "muted") for hour in (0, 24))
        space = theme.UNIT * 2
        self.column.setContentsMargins(theme.CARD_PADDING, theme.UNIT * 3, theme.CARD_PADDING, theme.UNIT * 3)
        self.add(layouts.row((self._words, 1), space, first, (self._cells, 1), last, spacing=space))

    def show_week(self, cells: str) -> None:
        """All of it: today is cut out when it is painted."""
        self._cells.show_week(cells)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        words = schedule.next_change(snapshot.schedule, time.time())
        self._words.setText(words)
        self.setAccessibleName(words)
        self._cells.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit()


class _Cells(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._week = week.ALWAYS
        self.setMinimumWidth(_NARROWEST)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(420, _HEIGHT + 6)

    def show_week(self, cells: str) -> None:
        if cells != self._week:
            self._week = cells
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        local = datetime.fromtimestamp(time.time()).astimezone()
        painter = painting.mirrored(self)
        painter.setPen(Qt.PenStyle.NoPen)
        width, top = self.width() / CELLS_A_DAY, (self.height() - _HEIGHT) / 2
        for slot in range(CELLS_A_DAY):
            painter.setBrush(level_colour(week.level_at(self._week, Cell(local.weekday(), slot))))
            painter.drawRoundedRect(QRectF(slot * width, top, width - _GAP, _HEIGHT), 2.5, 2.5)
        now = theme.tokens()
        middle = self.width() * (local.hour * 60 + local.minute) / (24 * 60)
        painter.setPen(QPen(QColor(now.card), 2))
        painter.setBrush(QColor(now.text))
        painter.drawRoundedRect(QRectF(middle - 2, 0, 4, self.height()), 2, 2)

"""A year as a calendar of days, with weeks from left to right. A day with more hours has a stronger colour."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import ClassVar

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QPainter, QPaintEvent, QResizeEvent

from app.history.charts import shades
from app.history.charts.time_chart import TimeChart
from app.text.formats import numbers, times
from app.text.i18n import tr, trn
from app.widgets import painting, roles, theme
from app.widgets.theme import Type

_TOP = 20
_WEEKS = 54
_GAP = 3.0


class CalendarView(TimeChart):
    """`chosen` gives a day that was clicked."""

    chosen = Signal(date)
    STEPS: ClassVar = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -7, Qt.Key.Key_Right: 7}

    def __init__(self, first_day: int = 0) -> None:
        """`first_day` of the week, Monday = 0."""
        super().__init__()
        self._first_day = first_day
        self._left = painting.room_for(map(times.short_weekday, range(7)), theme.font(Type.CAPTION), 34.0)
        self._begin = date(1970, 1, 1)
        self._days: Sequence[float] = ()
        self.setMouseTracking(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Days are squares, so the height follows the width.
        self.setFixedHeight(round(theme.scaled(_TOP) + 7 * self._size()))

    def show_year(self, year: int, days: Sequence[float]) -> None:
        """Seconds of each day."""
        self._begin, self._days = date(year, 1, 1), days
        given, time = sum(1 for seconds in days if seconds > 0), numbers.duration(sum(days))
        self.setAccessibleName(
            trn(
                "Calendar of {year}: 1 day with {time} in all.",
                "Calendar of {year}: {days} days with {time} in all.",
                given,
                year=year,
                days=given,
                time=time,
            )
        )
        self.mark(self.marked)

    @property
    def places(self) -> int:
        return len(self._days)

    def place_at(self, at: QPointF) -> int | None:
        size = self._size()
        column, row = int((at.x() - self._left) // size), int((at.y() - theme.scaled(_TOP)) // size)
        place = column * 7 + row - self._lead()
        inside = at.x() >= self._left and 0 <= row < 7 and 0 <= place < len(self._days)
        return place if inside else None

    def area(self, place: int) -> QRectF:
        """The square of a day."""
        column, row = divmod(place + self._lead(), 7)
        size = self._size()
        gap = min(_GAP, size / 5)
        return QRectF(self._left + column * size, theme.scaled(_TOP) + row * size, size - gap, size - gap)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        self._paint_labels(painter)
        painter.setPen(Qt.PenStyle.NoPen)
        colours = [shades.shade(step) for step in range(shades.STEPS + 1)]
        most = max(self._days, default=0.0)
        radius = min(theme.RADIUS_CELL, self._size() / 4)
        for place, seconds in enumerate(self._days):
            painter.setBrush(colours[shades.step(seconds, most)])
            painter.drawRoundedRect(self.area(place), radius, radius)
        if self.hasFocus() and self._days:
            painting.outline(painter, theme.tokens().text, 1.5)
            painter.drawRoundedRect(self.area(self.marked).adjusted(-1, -1, 1, 1), radius, radius)

    def tip(self, place: int) -> str:
        there = self._begin + timedelta(days=place)
        seconds = self._days[place]
        given = numbers.duration(seconds) if seconds else tr("nothing")
        return f"{times.date_text(there)}: {given}"

    def open(self, place: int) -> None:
        self.chosen.emit(self._begin + timedelta(days=place))

    def _lead(self) -> int:
        return (self._begin.weekday() - self._first_day) % 7

    def _size(self) -> float:
        return (self.width() - self._left) / _WEEKS

    def _paint_labels(self, painter: QPainter) -> None:
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(theme.tokens().muted))
        for row in (0, 2, 4, 6):
            where = QRectF(0, theme.scaled(_TOP) + row * self._size() - 2, self._left - 6, self._size())
            name = times.short_weekday((row + self._first_day) % 7)
            painter.drawText(where, painting.BESIDE, name)
        for number in range(1, 13):
            place = (self._begin.replace(month=number) - self._begin).days
            where = QRectF(self.area(place).left(), 0, theme.scaled(60), theme.scaled(_TOP) - 5)
            painter.drawText(where, painting.ABOVE, times.month(number))


roles.set_role(CalendarView, QAccessible.Role.Table)

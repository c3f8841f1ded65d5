"""The hours of the week with contributions, and the reasons why there were none at other times."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.history.charts import shades
from app.text import history
from app.text.formats import numbers, times
from app.text.i18n import tr
from app.widgets import painting, theme
from app.widgets.theme import Type

_BOTTOM = 20.0
_ROW, _MOST_ROWS = 26.0, 7


class WeekHoursView(QWidget):
    """Seven rows of 24 hours."""

    def __init__(self, first_day: int = 0) -> None:
        """`first_day` of the week, Monday = 0."""
        super().__init__()
        self._first_day = first_day
        self._left = painting.room_for(map(times.short_weekday, range(7)), theme.font(Type.CAPTION), 38.0)
        self._seconds: Sequence[float] = (0.0,) * 168
        self.setMouseTracking(True)
        self.setMinimumHeight(150)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(360, 180)

    def show_week(self, seconds: Sequence[float]) -> None:
        """Of the 168 hours from Monday 0:00 on."""
        self._seconds = seconds
        self.setAccessibleName(history.habit(seconds) or tr("Hours of the week: nothing yet."))
        self.update()

    def place_at(self, at: QPointF) -> int | None:
        row, hour = int(at.y() // self._size().height()), int((at.x() - self._left) // self._size().width())
        inside = at.x() >= self._left and 0 <= row < 7 and 0 <= hour < 24
        return (row + self._first_day) % 7 * 24 + hour if inside else None

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(theme.tokens().muted))
        size = self._size()
        for row in range(7):
            where = QRectF(0, row * size.height(), self._left, size.height())
            name = times.short_weekday((row + self._first_day) % 7)
            painter.drawText(where, painting.BESIDE, name)
        for hour in range(0, 24, 6):
            where = QRectF(self._left + hour * size.width(), self.height() - _BOTTOM + 4, 60, 16)
            painter.drawText(where, Qt.AlignmentFlag.AlignLeft, times.hour(hour))
        painter.setPen(Qt.PenStyle.NoPen)
        colours = [shades.shade(step) for step in range(shades.STEPS + 1)]
        most, radius = max(self._seconds), min(theme.RADIUS_CELL, size.height() / 4)
        for place, seconds in enumerate(self._seconds):
            painter.setBrush(colours[shades.step(seconds, most)])
            row, hour = (place // 24 - self._first_day) % 7, place % 24
            cell = QRectF(self._left + hour * size.width(), row * size.height(), size.width() - 2, size.height() - 2)
            painter.drawRoundedRect(cell, radius, radius)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self.place_at(QPointF(event.pos()))
            tip = "" if place is None else f"{history.week_hour(place)}: {numbers.duration(self._seconds[place])}"
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)

    def _size(self) -> QRectF:
        return QRectF(0, 0, (self.width() - self._left) / 24, (self.height() - _BOTTOM) / 7)


class ReasonsView(QWidget):
    """Times by reason as bars with their names, the longest first."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[tuple[str, float]] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(300, round(_ROW * _MOST_ROWS))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, round(_ROW * max(1, len(self._rows))))

    def show_reasons(self, idle: Mapping[str, float]) -> None:
        """Seconds by reason."""
        named = [(history.reason(reason), seconds) for reason, seconds in idle.items() if seconds >= 1]
        named.sort(key=lambda row: -row[1])
        rest = sum(seconds for _, seconds in named[_MOST_ROWS - 1 :])
        many = len(named) > _MOST_ROWS
        self._rows = [*named[: _MOST_ROWS - 1], (tr("other reasons"), rest)] if many else named
        spoken = ", ".join(f"{name} {numbers.duration(seconds)}" for name, seconds in self._rows)
        self.setAccessibleName(spoken or tr("Nothing prevented contributing."))
        self.updateGeometry()
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = painting.smooth(self)
        painter.setFont(theme.font(Type.CAPTION))
        most = max((seconds for _, seconds in self._rows), default=1.0)
        for number, (name, seconds) in enumerate(self._rows):
            top = number * _ROW
            where = QRectF(0, top, self.width(), 18)
            painter.setPen(QColor(now.text))
            painter.drawText(where, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name)
            painter.setPen(QColor(now.muted))
            painter.drawText(
                where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, numbers.duration(seconds)
            )
            painting.fill(painter, now.track)
            painter.drawRoundedRect(QRectF(0, top + 19, self.width(), 3), 1.5, 1.5)
            painting.fill(painter, now.other_1)
            painter.drawRoundedRect(QRectF(0, top + 19, max(3.0, self.width() * seconds / most), 3), 1.5, 1.5)

"""The week as seven rows of half hours, painted with the pointer or the keyboard.

It shows the engine's week and asks for another one by `painted`; an unfinished stroke is only a preview. The left
button paints with the brush, the right one paints "off", Escape cancels a stroke. A click on the name of a day or an
hour paints all of it.
"""

from typing import NamedTuple

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QFocusEvent, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.schedule.week_painter import WeekGeometry, WeekPainter
from app.text.formats import times
from app.text.i18n import tr
from app.text.typed import week
from app.text.typed.week import Cell
from app.widgets import roles
from core.api.preferences.schedule import CELLS_A_DAY, Level

_LEVEL_KEYS = {Qt.Key.Key_1: Level.OFF, Qt.Key.Key_2: Level.GENTLE, Qt.Key.Key_3: Level.FULL}
_STEPS = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
    Qt.Key.Key_Home: (0, -CELLS_A_DAY),
    Qt.Key.Key_End: (0, CELLS_A_DAY),
}


class Place(NamedTuple):
    """A cell on the screen: row 0 is the first day of the week."""

    row: int
    slot: int


class _Stroke(NamedTuple):
    start: Place
    end: Place
    level: Level
    whole_days: bool
    whole_hours: bool


class WeekGrid(QWidget):
    """`first_day` is the row at the top, Monday = 0."""

    painted = Signal(str)
    """The whole week as the volunteer wants it."""
    pointed = Signal(str)
    """Emits the text about the cell under the pointer or cursor; empty without one."""

    def __init__(self, first_day: int) -> None:
        super().__init__()
        self.brush = Level.FULL
        self._days = [(first_day + row) % 7 for row in range(7)]
        self._cells = week.ALWAYS
        self._preview: str | None = None
        self._stroke: _Stroke | None = None
        self._cursor = self._anchor = Place(0, 0)
        self._keyed = False
        self._now: tuple[int, float] | None = None
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleDescription(
            tr("Arrow keys move, with Shift they select; Space changes the level; 1, 2, 3 paint off, gentle, full.")
        )
        self._describe_cursor()

    def sizeHint(self) -> QSize:
        return QSize(760, 7 * 34 + 24)

    def minimumSizeHint(self) -> QSize:
        return QSize(420, 7 * 24 + 24)

    @property
    def cells(self) -> str:
        """The week on the screen, with an unfinished stroke."""
        return self._preview or self._cells

    def show_cells(self, cells: str) -> None:
        """Show the engine's week; ends a preview."""
        if self._stroke is None:
            self._preview = None
        self._cells = cells
        self._describe_cursor()
        self.update()

    def show_now(self, day: int, share_of_day: float) -> None:
        """The position of the marker."""
        if (now := (self._days.index(day), share_of_day)) != self._now:
            self._now = now
            self.update()

    def selection(self) -> tuple[range, range]:
        """Rows and slots between the cursor and where the selection began."""
        return _between(self._anchor, self._cursor)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = WeekPainter(self, self._geometry(), self._days)
        painter.paint_labels(self._now[0] if self._now else None)
        painter.paint_cells(self.cells)
        if self._stroke:
            painter.paint_frame(*self._area(self._stroke))
        elif self._has_cursor():
            painter.paint_frame(*self.selection())
        if self._now:
            painter.paint_now(*self._now)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        level = {Qt.MouseButton.LeftButton: self.brush, Qt.MouseButton.RightButton: Level.OFF}.get(event.button())
        if level is None:
            event.ignore()
            return
        self._keyed = False
        geometry, at = self._geometry(), event.position()
        place = self._place_at(at)
        whole_days, whole_hours = geometry.is_on_days(at), geometry.is_on_hours(at)
        if not (whole_days and whole_hours):
            self._draw(_Stroke(place, place, level, whole_days, whole_hours))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._stroke:
            self._draw(self._stroke._replace(end=self._place_at(event.position())))
        else:
            self._show_tip(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self._stroke and event.button() in {Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton}:
            self._anchor = self._cursor = self._stroke.end
            self._stroke = None
            self._ask(self.cells)

    def contextMenuEvent(self, event: QEvent) -> None:
        event.accept()  # the right button paints

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if self._stroke is None:
            self.pointed.emit("")

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._describe_cursor()
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._cancel()
        self.pointed.emit("")  # what it said of the cursor may change, as by "undo"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, self._keyed = Qt.Key(event.key()), True
        if key in _STEPS:
            self._move(*_STEPS[key], extend=bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        elif key in _LEVEL_KEYS:
            self._paint_selection(_LEVEL_KEYS[key])
        elif key in {Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._paint_selection(week.next_level(self._level(self._cursor)))
        elif key == Qt.Key.Key_A and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._anchor, self._cursor = Place(0, 0), Place(6, CELLS_A_DAY - 1)
            self._describe_cursor()
        elif key == Qt.Key.Key_Escape and (self._stroke or self._anchor != self._cursor):
            self._cancel()
        else:
            super().keyPressEvent(event)

    def _draw(self, stroke: _Stroke) -> None:
        self._stroke = stroke
        rows, slots = self._area(stroke)
        self._preview = week.painted(self._cells, (self._days[row] for row in rows), slots, stroke.level)
        self.pointed.emit(self._text(rows, slots, stroke.level))
        self.update()

    def _area(self, stroke: _Stroke) -> tuple[range, range]:
        rows, slots = _between(stroke.start, stroke.end)
        if stroke.whole_days:
            slots = range(CELLS_A_DAY)
        if stroke.whole_hours:
            rows, slots = range(7), range(slots.start // 2 * 2, (slots.stop + 1) // 2 * 2)
        return rows, slots

    def _paint_selection(self, level: Level) -> None:
        rows, slots = self.selection()
        self._ask(week.painted(self._cells, (self._days[row] for row in rows), slots, level))

    def _ask(self, cells: str) -> None:
        """The preview stays until the engine has answered, so that nothing flickers."""
        self._preview = cells
        self.update()
        if cells != self._cells:
            self.painted.emit(cells)

    def _cancel(self) -> None:
        if self._stroke:
            self._stroke = self._preview = None
        self._anchor = self._cursor
        self._describe_cursor()
        self.update()

    def _move(self, rows: int, slots: int, extend: bool) -> None:
        row, slot = self._cursor.row + rows, self._cursor.slot + slots
        self._cursor = Place(min(6, max(0, row)), min(CELLS_A_DAY - 1, max(0, slot)))
        if not extend:
            self._anchor = self._cursor
        self._describe_cursor()
        self.update()

    def _level(self, place: Place) -> Level:
        return week.level_at(self.cells, Cell(self._days[place.row], place.slot))

    def _describe_cursor(self) -> None:
        rows, slots = self.selection()
        text = self._text(rows, slots, self._level(self._cursor))
        self.setAccessibleName(text)
        if self._has_cursor():
            self.pointed.emit(text)

    def _has_cursor(self) -> bool:
        """Painting with the pointer hides the cursor."""
        by_keyboard = self._keyed or self.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        return self.hasFocus() and by_keyboard

    def _show_tip(self, at: QPointF) -> None:
        geometry = self._geometry()
        if geometry.is_on_days(at) or geometry.is_on_hours(at):
            self.pointed.emit("")
            return
        place = self._place_at(at)
        self.pointed.emit(self._text(*_between(place, place), self._level(place)))

    def _text(self, rows: range, slots: range, level: Level) -> str:
        first, last = times.weekday(self._days[rows.start]), times.weekday(self._days[rows.stop - 1])
        days = first if len(rows) == 1 else tr("{first} to {last}", first=first, last=last)
        return tr("{days}, {time}: {level}", days=days, time=week.span_text(slots), level=week.level_name(level))

    def _geometry(self) -> WeekGeometry:
        return WeekGeometry(self.width(), self.height())

    def _place_at(self, at: QPointF) -> Place:
        return Place(*self._geometry().place_at(at))


def _between(one: Place, other: Place) -> tuple[range, range]:
    rows, slots = sorted((one.row, other.row)), sorted((one.slot, other.slot))
    return range(rows[0], rows[1] + 1), range(slots[0], slots[1] + 1)


roles.set_role(WeekGrid, QAccessible.Role.Table)

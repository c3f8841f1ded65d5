"""A picture made of places, one for each period. Pointer and arrow keys mark a place; a click or Enter opens it."""

from collections.abc import Mapping
from typing import ClassVar

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.widgets import verbatim


class TimeChart(QWidget):
    """Has no places and draws nothing itself. `marked` is the place that the keys act on."""

    STEPS: ClassVar[Mapping[Qt.Key, int]] = {}
    """How many places an arrow key moves."""

    def __init__(self) -> None:
        super().__init__()
        self.marked = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def places(self) -> int:
        """The number of places."""
        return 0

    def place_at(self, _at: QPointF) -> int | None:
        """The number of the place at a point."""
        return None

    def tip(self, _place: int) -> str:
        """The text about a place."""
        return ""

    def open(self, place: int) -> None:
        """Act on a click or Enter."""

    def mark(self, place: int) -> None:
        """Mark a place, or the nearest one."""
        self.marked = max(0, min(place, self.places - 1))
        self.setAccessibleDescription(self.tip(self.marked) if self.places else "")
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position())
        if place is not None and event.button() is Qt.MouseButton.LeftButton:
            self.mark(place)
            self.open(place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if key in self.STEPS:
            self.mark(self.marked + self.STEPS[key])
        elif key in {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space}:
            if self.places:
                self.open(self.marked)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            place = self.place_at(QPointF(event.pos()))
            tip = "" if place is None else verbatim.in_tip(self.tip(place))
            QToolTip.showText(event.globalPos(), tip, self)
            return True
        return super().event(event)

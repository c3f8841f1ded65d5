"""A picture made of places, each of which stands for a time: pointed at, walked with the arrows, and opened."""

from collections.abc import Mapping
from typing import ClassVar

from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget


class TimeChart(QWidget):
    """Draws nothing itself. `marked` is the place that the keys work on."""

    STEPS: ClassVar[Mapping[Qt.Key, int]]
    """How far an arrow goes."""

    def __init__(self) -> None:
        super().__init__()
        self.marked = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def places(self) -> int:
        """How many there are."""
        raise NotImplementedError

    def place_at(self, at: QPointF) -> int | None:
        """The number of the place at a point."""
        raise NotImplementedError

    def tip(self, place: int) -> str:
        """What a place stands for."""
        raise NotImplementedError

    def open(self, place: int) -> None:
        """It was chosen."""
        raise NotImplementedError

    def mark(self, place: int) -> None:
        """Go to a place, the nearest that there is."""
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
            QToolTip.showText(event.globalPos(), self.tip(place) if place is not None else "", self)
            return True
        return super().event(event)

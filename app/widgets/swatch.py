"""The colours of the schedule's levels, and a small square of a colour."""

from collections.abc import Callable

from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.widgets import painting, theme
from core.api.preferences.schedule import Level


def level_colour(level: Level) -> QColor:
    """In the current theme."""
    now = theme.tokens()
    return QColor({Level.OFF: now.track, Level.GENTLE: now.gentle, Level.FULL: now.accent}[level])


class Swatch(QWidget):
    """The colour of a level or project, before its name. `colour` gives that of the current theme."""

    def __init__(self, colour: Callable[[], QColor], side: int = 14, radius: int = theme.RADIUS_CELL) -> None:
        super().__init__()
        self._colour, self._radius = colour, radius
        self.setFixedSize(side, side)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painting.fill(painter, self._colour())
        painter.drawRoundedRect(self.rect(), self._radius, self._radius)

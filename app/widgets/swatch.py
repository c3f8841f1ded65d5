"""The colours of the schedule's levels, and a small square of one."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.widgets import theme
from core.api.preferences.schedule import Level

_SIDE = 14


def level_colour(level: Level) -> QColor:
    """In the current theme."""
    now = theme.tokens()
    return QColor({Level.OFF: now.track, Level.GENTLE: now.gentle, Level.FULL: now.accent}[level])


class Swatch(QWidget):
    """The colour of a level, before its name."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self._level = level
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(_SIDE, _SIDE)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(level_colour(self._level))
        painter.drawRoundedRect(self.rect(), theme.RADIUS_CELL, theme.RADIUS_CELL)

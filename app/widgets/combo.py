"""A box to choose one of several values. It draws its arrow, since the style sheet has none."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QComboBox

from app.widgets import theme
from app.widgets.theme import Type

_ARROW = (QPointF(-4, -2), QPointF(0, 2), QPointF(4, -2))


class Combo(QComboBox):
    """`choices`: value and name of each, in their order."""

    def __init__(self, choices: Mapping[Any, str]) -> None:
        super().__init__()
        self.setFont(theme.font(Type.TEXT))
        self.setMinimumWidth(170)
        for value, name in choices.items():
            self.addItem(name, value)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(theme.tokens().muted), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        middle = QPointF(self.width() - 18, self.height() / 2)
        painter.drawPolyline(QPolygonF([middle + offset for offset in _ARROW]))

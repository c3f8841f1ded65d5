"""A box to choose one of several values. It draws its arrow, since the style sheet has none."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox

from app.widgets import painting, theme
from app.widgets.theme import Type


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
        middle = QPointF(self.width() - 18, self.height() / 2)
        painting.arrow_down(painting.mirrored(self), middle, theme.tokens().muted, 1.8)

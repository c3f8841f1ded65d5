"""One of several things to choose from: a round mark, a name, and what it means."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter

from app.widgets import painting, theme
from app.widgets.controls.option_button import OptionButton
from app.widgets.theme import Type


class ChoiceCard(OptionButton):
    """Checked means chosen. In a `QButtonGroup` arrow keys move between the cards."""

    NARROWEST, PADDING, MARK, RADIUS = 170, 14, 14, theme.RADIUS_CARD

    def __init__(self, name: str, meaning: str) -> None:
        super().__init__(name, meaning)
        self.setAccessibleName(name)
        self.setAccessibleDescription(meaning)

    def paint_mark(self, painter: QPainter) -> None:
        now, radius = theme.tokens(), self.MARK / 2
        middle = QPointF(self.PADDING + radius + 1, self.PADDING + theme.line_height(Type.STRONG) / 2)
        painting.outline(painter, now.accent if self.isChecked() else now.muted, 1.6)
        painter.drawEllipse(middle, radius, radius)
        if self.isChecked():
            painting.fill(painter, now.accent)
            painter.drawEllipse(middle, radius - 3.5, radius - 3.5)

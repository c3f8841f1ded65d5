"""A level to paint with: its colour, its name and its meaning in numbers."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter

from app.text.i18n import tr
from app.text.typed import week
from app.widgets import painting, theme
from app.widgets.controls.option_button import OptionButton
from app.widgets.swatch import level_colour
from core.api.preferences.schedule import Level


class LevelButton(OptionButton):
    """Checked means that the pointer paints this level."""

    def __init__(self, level: Level) -> None:
        super().__init__(week.level_name(level))
        self._level = level
        self.set_meaning("")

    def set_meaning(self, meaning: str) -> None:
        self.meaning = meaning
        name = tr("Paint {level}", level=self.text())
        self.setAccessibleName(f"{name}: {meaning}" if meaning else name)
        self.setToolTip(meaning)
        self.updateGeometry()
        self.update()

    def paint_mark(self, painter: QPainter) -> None:
        painting.fill(painter, level_colour(self._level))
        square = QRectF(self.PADDING, self.PADDING, self.MARK, self.MARK)
        painter.drawRoundedRect(square, theme.RADIUS_CELL, theme.RADIUS_CELL)

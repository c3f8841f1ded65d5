"""A level to paint with: its colour, its name and its meaning in numbers."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.text.i18n import tr
from app.text.typed import week
from app.widgets import theme
from app.widgets.swatch import level_colour
from app.widgets.theme import Type
from core.api.preferences.schedule import Level

_PADDING = 10
_SWATCH = 18
_NARROWEST = 150
_WRAP = int(Qt.TextFlag.TextWordWrap)
_TEXT_LEFT = 2 * _PADDING + _SWATCH


class LevelButton(QAbstractButton):
    """Checked means that the pointer paints this level."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self._level = level
        self._meaning = ""
        self.setText(week.level_name(level))
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_meaning("")

    def set_meaning(self, meaning: str) -> None:
        self._meaning = meaning
        name = tr("Paint {level}", level=self.text())
        self.setAccessibleName(f"{name}: {meaning}" if meaning else name)
        self.setToolTip(meaning)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_NARROWEST, self.heightForWidth(_NARROWEST))

    def heightForWidth(self, width: int) -> int:
        """Show the whole meaning, on several lines if necessary."""
        room = QRect(0, 0, width - _TEXT_LEFT - _PADDING, 1000)
        words = QFontMetrics(theme.font(Type.CAPTION)).boundingRect(room, _WRAP, self._meaning or " ")
        return 2 * _PADDING + theme.line_height(Type.STRONG) + 2 + words.height()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.setPen(QPen(QColor(now.accent if self.isChecked() else now.line), 2 if self.isChecked() else 1))
        painter.setBrush(QColor(now.hover if self.underMouse() and self.isEnabled() else now.card))
        painter.drawRoundedRect(frame, theme.RADIUS_BUTTON, theme.RADIUS_BUTTON)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(level_colour(self._level))
        painter.drawRoundedRect(QRectF(_PADDING, _PADDING, _SWATCH, _SWATCH), theme.RADIUS_CELL, theme.RADIUS_CELL)
        self._paint_words(painter)

    def _paint_words(self, painter: QPainter) -> None:
        now, width = theme.tokens(), self.width() - _TEXT_LEFT - _PADDING
        name = theme.line_height(Type.STRONG)
        painter.setFont(theme.font(Type.STRONG))
        painter.setPen(QColor(now.text))
        painter.drawText(QRectF(_TEXT_LEFT, _PADDING, width, name), Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(now.muted))
        painter.drawText(QRect(_TEXT_LEFT, _PADDING + name + 2, width, self.height()), _WRAP, self._meaning)

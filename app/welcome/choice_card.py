"""One of several things to choose from: a round mark, a name, and what it means."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.widgets import theme
from app.widgets.theme import Type

_PADDING = 14
_MARK = 16
_LEFT = 2 * _PADDING + _MARK - 2
_NARROWEST = 170
_WRAP = int(Qt.TextFlag.TextWordWrap)


class ChoiceCard(QAbstractButton):
    """Checked means chosen. In a `QButtonGroup` arrow keys move between the cards."""

    def __init__(self, name: str, meaning: str) -> None:
        super().__init__()
        self._meaning = meaning
        self.setText(name)
        self.setAccessibleName(name)
        self.setAccessibleDescription(meaning)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def meaning(self) -> str:
        return self._meaning

    def sizeHint(self) -> QSize:
        return QSize(_NARROWEST, self.heightForWidth(_NARROWEST))

    def minimumSizeHint(self) -> QSize:
        return QSize(_NARROWEST, self.heightForWidth(max(_NARROWEST, self.width())))

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width - _LEFT - _PADDING, 1000)
        name = QFontMetrics(theme.font(Type.STRONG)).boundingRect(room, _WRAP, self.text())
        words = QFontMetrics(theme.font(Type.CAPTION)).boundingRect(room, _WRAP, self._meaning or " ")
        return 2 * _PADDING + name.height() + 3 + words.height()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now, chosen = theme.tokens(), self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(now.accent if chosen else now.line), 2 if chosen else 1))
        painter.setBrush(QColor(now.hover if self.underMouse() and self.isEnabled() else now.card))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.RADIUS_CARD, theme.RADIUS_CARD)
        self._paint_mark(painter)
        self._paint_words(painter)

    def _paint_mark(self, painter: QPainter) -> None:
        now = theme.tokens()
        middle = QPointF(_PADDING + _MARK / 2, _PADDING + theme.line_height(Type.STRONG) / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(now.accent if self.isChecked() else now.muted), 1.6))
        painter.drawEllipse(middle, _MARK / 2 - 1, _MARK / 2 - 1)
        if self.isChecked():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(now.accent))
            painter.drawEllipse(middle, _MARK / 2 - 4.5, _MARK / 2 - 4.5)

    def _paint_words(self, painter: QPainter) -> None:
        now = theme.tokens()
        room = self.rect().adjusted(_LEFT, _PADDING, -_PADDING, 0)
        painter.setFont(theme.font(Type.STRONG))
        painter.setPen(QColor(now.text))
        name = painter.boundingRect(room, _WRAP, self.text())
        painter.drawText(room, _WRAP, self.text())
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(now.muted))
        painter.drawText(room.adjusted(0, name.height() + 3, 0, 0), _WRAP, self._meaning)

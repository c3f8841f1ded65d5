"""A large button with a mark, a name and what it means, which is checked while it is chosen."""

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QStyle

from app.widgets import painting, theme
from app.widgets.theme import Type

_GAP = 3
_WRAP = int(Qt.TextFlag.TextWordWrap)


class OptionButton(QAbstractButton):
    """As high as its words need. Subclasses paint the mark, before the words."""

    NARROWEST = 150
    PADDING = 10
    MARK = 18
    """Pixels for the mark in each direction."""
    RADIUS = theme.RADIUS_BUTTON

    def __init__(self, name: str, meaning: str = "") -> None:
        super().__init__()
        self.meaning = meaning
        self.setText(name)
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        return QSize(self.NARROWEST, self.heightForWidth(self.NARROWEST))

    def minimumSizeHint(self) -> QSize:
        return QSize(self.NARROWEST, self.heightForWidth(max(self.NARROWEST, self.width())))

    def heightForWidth(self, width: int) -> int:
        room = QRect(0, 0, width - self._left - self.PADDING, 1000)
        name = QFontMetrics(theme.font(Type.STRONG)).boundingRect(room, _WRAP, self.text())
        words = QFontMetrics(theme.font(Type.CAPTION)).boundingRect(room, _WRAP, self.meaning or " ")
        return 2 * self.PADDING + name.height() + _GAP + words.height()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now, chosen = theme.tokens(), self.isChecked()
        painter = painting.smooth(self)
        painter.setPen(QPen(QColor(now.accent if chosen else now.line), 2 if chosen else 1))
        painter.setBrush(QColor(now.hover if self.underMouse() and self.isEnabled() else now.card))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), self.RADIUS, self.RADIUS)
        painter.save()
        painting.mirror(painter, self)
        self.paint_mark(painter)
        painter.restore()
        room = self.rect().adjusted(self._left, self.PADDING, -self.PADDING, 0)
        room = QStyle.visualRect(self.layoutDirection(), self.rect(), room)
        painter.setFont(theme.font(Type.STRONG))
        painter.setPen(QColor(now.text))
        name = painter.boundingRect(room, _WRAP, self.text())
        painter.drawText(room, _WRAP, self.text())
        painter.setFont(theme.font(Type.CAPTION))
        painter.setPen(QColor(now.muted))
        painter.drawText(room.adjusted(0, name.height() + _GAP, 0, 0), _WRAP, self.meaning)

    def paint_mark(self, painter: QPainter) -> None:
        """Paint into a square at `PADDING`."""

    @property
    def _left(self) -> int:
        return 2 * self.PADDING + self.MARK

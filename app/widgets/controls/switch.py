"""On or off."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPaintEvent
from PySide6.QtWidgets import QAbstractButton

from app.widgets import painting, theme


class Switch(QAbstractButton):
    """A checkable button that slides."""

    def __init__(self) -> None:
        super().__init__()
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedSize(44, 24)

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = painting.mirrored(self)
        on = self.isChecked()
        painting.fill(painter, now.accent if on and self.isEnabled() else now.other_3 if on else now.track)
        painter.drawRoundedRect(self.rect(), 12, 12)
        painter.setBrush(QColor(now.on_accent if on else now.muted))
        painter.drawEllipse(QRectF(23 if on else 3, 3, 18, 18))

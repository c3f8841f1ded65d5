"""A slider for a ceiling: the handle is what is allowed, the filled part what is used right now."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider

from app.widgets import painting, theme

_GROOVE = 6.0
_HANDLE = 9.0
_NARROWEST = 80


class LimitSlider(QSlider):
    """Positions are the numbers of stops; its owner knows their values."""

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._live: float | None = None
        self._idle = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(_NARROWEST)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(220, 26)

    def set_live(self, position: float | None) -> None:
        """The live value as a position; None: nothing is measured."""
        if position != self._live:
            self._live = position
            self.update()

    def set_idle(self, idle: bool) -> None:
        """Whether no value applies: the handle is then pale, and can be taken all the same."""
        if idle != self._idle:
            self._idle = idle
            self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Left to the page: scrolling it must not change a limit on the way."""
        event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click anywhere takes the handle there, and a drag goes on from it."""
        if event.button() is not Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self.setSliderDown(True)
        self.setSliderPosition(self._stop_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self.setSliderPosition(self._stop_at(event.position().x()))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = painting.mirrored(self)
        handle = self._place(self.sliderPosition())
        self._bar(painter, now.track, _HANDLE, self.width() - _HANDLE)
        if not self._idle:
            self._bar(painter, now.other_3, _HANDLE, handle)
        if self._live:
            most = self.width() - _HANDLE if self._idle else handle
            self._bar(painter, now.accent, _HANDLE, min(self._place(self._live), most))
        painter.setBrush(QColor(now.text if self.isEnabled() and not self._idle else now.other_3))
        painter.setPen(QPen(QColor(now.card), 3))
        painter.drawEllipse(QPointF(handle, self.height() / 2), _HANDLE, _HANDLE)

    def _bar(self, painter: QPainter, colour: str, left: float, right: float) -> None:
        painting.fill(painter, colour)
        bar = QRectF(left, (self.height() - _GROOVE) / 2, max(0.0, right - left), _GROOVE)
        painter.drawRoundedRect(bar, _GROOVE / 2, _GROOVE / 2)

    def _place(self, position: float) -> float:
        """The middle of the handle at a position."""
        return _HANDLE + (self.width() - 2 * _HANDLE) * position / max(1, self.maximum())

    def _stop_at(self, x: float) -> int:
        along = self.width() - x if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else x
        share = (along - _HANDLE) / max(1.0, self.width() - 2 * _HANDLE)
        return round(min(1.0, max(0.0, share)) * self.maximum())

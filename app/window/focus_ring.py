"""Shows which control has the keyboard: a ring of 2 px in the accent, 2 px away, once Tab has been used in a window.

Style sheets cannot draw outside a widget, so the ring is a widget of its own that lies over the focused one.
"""

from PySide6.QtCore import QEvent, QMargins, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QScrollArea, QWidget

from app.widgets import painting, theme

_WIDTH = 2
_OFFSET = 2
_MARGIN = _WIDTH + _OFFSET


class FocusRing(QWidget):
    """One for the whole application; it moves to the widget that has the focus."""

    def __init__(self, application: QApplication) -> None:
        super().__init__()
        self._target: QWidget | None = None
        self._watched: list[QWidget] = []
        """The target and what it lies in: any of them may move. The last one holds the ring."""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        application.focusChanged.connect(self._on_focus_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 — Qt's own name
        kind = event.type()
        if kind in {QEvent.Type.Move, QEvent.Type.Resize}:
            self._follow()
        elif watched is self._target and kind in {QEvent.Type.Hide, QEvent.Type.Destroy}:
            self._release()
        return False

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painting.outline(painter, theme.tokens().accent, _WIDTH)
        half = _WIDTH / 2
        radius = theme.RADIUS_BUTTON + _OFFSET
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(half, half, -half, -half), radius, radius)

    def _on_focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        self._release()
        if now is None or not now.window().testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange):
            return
        _scroll_to(now)
        if now.isWindow() or isinstance(now, QLineEdit):
            return  # a text field shows by itself that it has the keyboard
        self._target = now
        self._watched = _up_to_the_page(now)
        for widget in self._watched:
            widget.installEventFilter(self)
        self.setParent(self._watched[-1])
        self._follow()
        self.raise_()
        self.show()

    def _follow(self) -> None:
        if self._target:
            place = self._target.mapTo(self._watched[-1], QPoint(0, 0))
            around = QMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
            self.setGeometry(QRect(place, self._target.size()).marginsAdded(around))

    def _release(self) -> None:
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._target, self._watched = None, []
        self.hide()
        self.setParent(None)


def _scroll_to(widget: QWidget) -> None:
    parent = widget.parentWidget()
    while parent:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget, 0, theme.PAGE_MARGIN)
        parent = parent.parentWidget()


def _up_to_the_page(widget: QWidget) -> list[QWidget]:
    """The widget and what it lies in, up to the one with room around it: a scrolled page or the window."""
    found = [widget]
    while parent := found[-1].parentWidget():
        if isinstance(parent.parentWidget(), QScrollArea) or found[-1].isWindow():
            break
        found.append(parent)
    return found

"""Moves a project in the order of preference: dragged with the mouse, or with the arrow keys."""

from collections.abc import Callable

from PySide6.QtCore import QByteArray, QMimeData, QPoint, QRectF, Qt
from PySide6.QtGui import QDrag, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.text.i18n import tr
from app.widgets import painting, theme

MIME = "application/x-idlehive-project"


class OrderHandle(QAbstractButton):
    """`move` gets -1 or 1. What is dragged shows as `card`."""

    def __init__(self, project: str, name: str, card: QWidget, move: Callable[[int], None]) -> None:
        super().__init__()
        self._project = project
        self._card = card
        self._move = move
        self._pressed_at = QPoint()
        self.setAccessibleName(tr("Move {name} in the order of preference", name=name))
        self.setToolTip(tr("Drag, or press the arrow keys. Idlehive contributes to the first project that can run."))
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedSize(24, 28)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Up:
                self._move(-1)
            case Qt.Key.Key_Down:
                self._move(1)
            case _:
                super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        self._pressed_at = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        far = (event.position().toPoint() - self._pressed_at).manhattanLength()
        if event.buttons() & Qt.MouseButton.LeftButton and far >= QApplication.startDragDistance():
            self.setDown(False)
            drag = QDrag(self)
            data = QMimeData()
            data.setData(MIME, QByteArray(self._project.encode()))
            drag.setMimeData(data)
            drag.setPixmap(self._card.grab())
            drag.setHotSpot(self.mapTo(self._card, self._pressed_at))
            drag.exec(Qt.DropAction.MoveAction)

    def paintEvent(self, _event: QPaintEvent) -> None:
        now = theme.tokens()
        painter = painting.smooth(self)
        painting.fill(painter, now.text if self.underMouse() or self.hasFocus() else now.muted)
        for row in range(3):
            for column in range(2):
                painter.drawEllipse(QRectF(7 + column * 7, 6 + row * 6.5, 3, 3))


def dragged_project(data: QMimeData) -> str | None:
    """The project that is being dragged, None if it is something else."""
    return bytes(data.data(MIME).data()).decode() if data.hasFormat(MIME) else None

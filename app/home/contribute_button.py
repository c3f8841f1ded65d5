"""The one large button: Contribute, Pause or Resume, and beside it a menu of how long."""

import time
from collections.abc import Callable

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app.link.choices import main_choice, more_choices
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button
from core.api.protocol import Command
from core.api.snapshot import Snapshot

Perform = Callable[[Command], None]

_ARROW = (QPointF(-4, -2), QPointF(0, 2), QPointF(4, -2))


def fill_menu(menu: QMenu, snapshot: Snapshot, perform: Perform) -> None:
    """Make a menu of the durations. The command is made when it is chosen: the menu may have been open for a while."""
    menu.clear()
    for index, choice in enumerate(more_choices(snapshot, time.time())):
        action = QAction(choice.text, menu)
        action.triggered.connect(
            lambda _checked, index=index: perform(more_choices(snapshot, time.time())[index].command)
        )
        menu.addAction(action)


class ContributeButton(QWidget):
    """Two buttons that look like one. `perform` sends the command."""

    def __init__(self, perform: Perform) -> None:
        super().__init__()
        self._snapshot = Snapshot(state="idle")
        self._perform = perform
        self.main = Button("", "primary-left", lambda: self._perform(main_choice(self._snapshot).command))
        self.more = _Arrow()
        self.menu = QMenu(self)
        self.menu.aboutToShow.connect(lambda: fill_menu(self.menu, self._snapshot, self._perform))
        self.more.clicked.connect(self._open_menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.main)
        row.addWidget(self.more)
        self.show_snapshot(self._snapshot)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.main.set_text(main_choice(snapshot).text)

    def set_enabled(self, enabled: bool) -> None:
        self.main.setEnabled(enabled)
        self.more.setEnabled(enabled)

    def _open_menu(self) -> None:
        self.menu.popup(self.mapToGlobal(self.rect().bottomLeft()))


class _Arrow(Button):
    """Opens the menu; the arrow is drawn, since not every font has one."""

    def __init__(self) -> None:
        super().__init__("", "primary-menu")
        self.setAccessibleName(tr("For how long"))
        self.setToolTip(tr("For how long"))
        self.setFixedWidth(38)

    def sizeHint(self) -> QSize:
        return QSize(38, super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        now = theme.tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(QColor(now.on_accent if self.isEnabled() else now.muted), 2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        middle = self.rect().center().toPointF()
        painter.drawPolyline(QPolygonF([middle + offset for offset in _ARROW]))

"""The one large button: Contribute, Pause or Resume, and beside it a menu of how long."""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QPaintEvent
from PySide6.QtWidgets import QMenu, QWidget

from app.link.choices import Choice, anyway_choices, main_choice, more_choices
from app.text.i18n import tr
from app.widgets import layouts, painting, theme
from app.widgets.basic import Button
from core.api.protocol import Command
from core.api.snapshot import Snapshot

Perform = Callable[[Command], None]


Choices = Callable[[Snapshot, float], tuple[Choice, ...]]


def fill_menu(menu: QMenu, snapshot: Snapshot, perform: Perform, choices: Choices = more_choices) -> None:
    """Make a menu of the durations. The command is made when it is chosen: the menu may have been open for a while."""
    menu.clear()
    for index, choice in enumerate(choices(snapshot, time.time())):
        action = QAction(choice.text, menu)
        action.triggered.connect(lambda _checked, index=index: perform(choices(snapshot, time.time())[index].command))
        menu.addAction(action)


class AnywayButton(Button):
    """Beside the reasons: contribute in spite of them, for how long. Hidden where the limits are not all of them."""

    def __init__(self, perform: Perform) -> None:
        super().__init__(tr("Contribute anyway…"), "link", self._open_menu)
        self._snapshot, self._perform = Snapshot(state="idle"), perform
        self.durations = QMenu(self)
        self.hide()

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.setVisible(bool(anyway_choices(snapshot, time.time())))

    def _open_menu(self) -> None:
        fill_menu(self.durations, self._snapshot, self._perform, anyway_choices)
        self.durations.popup(self.mapToGlobal(self.rect().bottomLeft()))


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
        layouts.row(self.main, self.more, spacing=0, of=self)
        # The style sheet rounds the corners of this order.
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
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
    """Opens the menu."""

    def __init__(self) -> None:
        super().__init__("", "primary-menu")
        self.setAccessibleName(tr("For how long"))
        self.setToolTip(tr("For how long"))
        self.setFixedWidth(38)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        now = theme.tokens()
        colour = now.on_accent if self.isEnabled() else now.muted
        painting.arrow_down(painting.smooth(self), self.rect().center().toPointF(), colour, 2)

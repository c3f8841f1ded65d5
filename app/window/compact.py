"""The compact window: ring, state, rates and the large button, small and in front of other windows."""

import time

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QWidget

from app.home.contribute_button import ContributeButton, Perform
from app.home.epoch_ring import EpochRing
from app.link.engine_link import EngineLink, Link
from app.text import progress, status, steps
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Label
from app.widgets.theme import Type
from core.api.snapshot import Snapshot

_RING = 132
_WIDTH = 380


class CompactWindow(QWidget):
    """Follows the engine only while it is seen."""

    left = Signal()
    """Escape: back to the large window."""
    quit_asked = Signal()

    def __init__(self, link: EngineLink, perform: Perform) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.WindowStaysOnTopHint)
        self._link = link
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setWindowTitle("Idlehive")
        self.ring, self.button = EpochRing(), ContributeButton(perform)
        self.ring.set_diameter(_RING)
        self.state = Label(kind=Type.STRONG, wrap=True)
        self.rates = Label(kind=Type.CAPTION, role="muted", wrap=True)
        button = layouts.row(self.button, None)
        words = layouts.column(None, self.state, self.rates, button, None, spacing=theme.UNIT * 2)
        row = layouts.row(self.ring, (words, 1), spacing=theme.UNIT * 4, of=self)
        row.setContentsMargins(*[theme.UNIT * 4] * 4)
        self._layout = row
        self.setFixedWidth(_WIDTH)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.left.emit)
        QShortcut(QKeySequence("Ctrl+Q"), self, self.quit_asked.emit)
        link.snapshot_changed.connect(self.refresh)
        link.link_changed.connect(self.refresh)

    def refresh(self, *_: object) -> None:
        if not self.isVisible():
            return
        snapshot = self._link.snapshot or Snapshot(state="idle")
        up, now = self._link.state is Link.UP, time.time()
        self.ring.show_progress(snapshot.progress, status.rest(snapshot), busy=up and steps.is_getting_ready(snapshot))
        self.state.setText(status.status(snapshot, now) if up else self._link.sentence or tr("Starting the engine"))
        left = status.time_left(snapshot, now)
        self.rates.setText("\n".join(filter(None, [left, progress.rates(snapshot)])) if up else "")
        self.button.show_snapshot(snapshot)
        self.button.set_enabled(up)
        # It grows with the words, and stays so: the button does not move with each figure.
        self.setMinimumHeight(max(self.minimumHeight(), self._layout.totalHeightForWidth(_WIDTH)))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

"""The tray icon: the state, and the commands that need no window."""

import time

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.desktop.notifications import Notification
from app.home.contribute_button import Perform, fill_menu
from app.link.choices import continues_by_itself, is_under_way, main_choice, more_choices
from app.link.engine_link import EngineLink, Link
from app.text import progress, reasons, status
from app.text.i18n import tr
from app.widgets import icons, verbatim
from core.api.snapshot import Snapshot

_REFRESH_MS = 15_000
"""Milliseconds between two updates of "42 min left"; menu and tool tip also follow every snapshot."""


class Tray(QObject):
    """Harmless where there is no tray."""

    toggled = Signal()
    opened = Signal()
    quit_asked = Signal()
    compact_asked = Signal()

    def __init__(self, link: EngineLink, perform: Perform, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link = link
        self._perform = perform
        self.menu = QMenu()
        self._tone: status.Tone = "quiet"
        self._build_menu()
        self.icon = self._make_icon()
        self._countdown = QTimer(self, interval=_REFRESH_MS)
        self._countdown.timeout.connect(self.refresh)
        link.snapshot_changed.connect(self.refresh)
        link.link_changed.connect(self.refresh)
        self.refresh()
        self.icon.show()

    def refresh(self, *_: object) -> None:
        snapshot, now = self._link.snapshot, time.time()
        up = self._link.state is Link.UP and snapshot is not None
        known = snapshot or Snapshot(state="idle")
        sentence = status.status(known, now) if up else self._link.sentence or tr("Starting the engine")
        left = status.time_left(known, now)
        self.state.setText(verbatim.in_menu(f"{sentence} ({left})" if left else sentence))
        traffic = progress.rates(known) if up else ""
        self.traffic.setText(traffic)
        self.traffic.setVisible(bool(traffic))
        self._set_tool_tip(verbatim.in_tip("\n".join(filter(None, [f"Idlehive: {sentence}", left, traffic]))))
        self.main.setText(main_choice(known).text)
        for widget in (self.main, self.durations.menuAction()):
            widget.setEnabled(up)
        self._offer(known)
        self.quit.setText(self._quit_text(known, up))
        pausing = reasons.is_paused(known) or is_under_way(known)
        self.durations.setTitle(tr("Pause for…") if pausing else tr("Contribute for…"))
        self._show_tone(status.tone(known) if up else self._tone_without_engine())
        self._count_down(status.ends_at(known) is not None)

    def renew(self) -> None:
        """Make the icon again for a new panel: it belongs to the kind of panel that was there when it was made."""
        before, self.icon = self.icon, self._make_icon()
        before.hide()
        before.deleteLater()
        self.refresh()
        self.icon.show()

    def retranslate(self) -> None:
        self.menu.clear()
        self._build_menu()
        self.refresh()

    def show_notification(self, notification: Notification) -> None:
        """Show a message of the tray, on desktops without a notification service."""
        if self.icon.supportsMessages():
            self.icon.showMessage(notification.title, notification.text, icons.logo())

    def _make_icon(self) -> QSystemTrayIcon:
        icon = QSystemTrayIcon(icons.tray(self._tone), self)
        icon.setContextMenu(self.menu)
        icon.activated.connect(self._on_activated)
        icon.messageClicked.connect(self.opened)
        return icon

    def _build_menu(self) -> None:
        self.state = QAction(self.menu)
        self.state.setEnabled(False)
        self.traffic = QAction(self.menu)
        self.traffic.setEnabled(False)
        self.main = QAction(self.menu)
        self.main.triggered.connect(self._on_main)
        self.durations = QMenu(self.menu)
        self.open = QAction(tr("Open Idlehive"), self.menu)
        self.open.triggered.connect(self.opened)
        self.compact = QAction(tr("Compact window"), self.menu)
        self.compact.triggered.connect(self.compact_asked)
        self.quit = QAction(self.menu)
        self.quit.triggered.connect(self.quit_asked)
        self.menu.addAction(self.state)
        self.menu.addAction(self.traffic)
        self.menu.addSeparator()
        self.menu.addAction(self.main)
        self.menu.addMenu(self.durations)
        self.menu.addSeparator()
        self.menu.addAction(self.open)
        self.menu.addAction(self.compact)
        self.menu.addAction(self.quit)

    def _set_tool_tip(self, sentence: str) -> None:
        if sentence != self.icon.toolTip():
            self.icon.setToolTip(sentence)

    def _offer(self, snapshot: Snapshot) -> None:
        """The durations. They are the same in most snapshots, and a menu is expensive to build."""
        offered = [choice.text for choice in more_choices(snapshot, time.time())]
        if offered != [action.text() for action in self.durations.actions()]:
            fill_menu(self.durations, snapshot, self._perform)

    def _quit_text(self, snapshot: Snapshot, up: bool) -> str:
        """What it would stop; where there is a choice, the question that follows asks."""
        if not up:
            return tr("Quit (closes the window)")
        return tr("Quit (ends contributing too)") if continues_by_itself(snapshot) else tr("Quit")

    def _on_main(self) -> None:
        if self._link.snapshot:
            self._perform(main_choice(self._link.snapshot).command)

    def _on_activated(self, why: QSystemTrayIcon.ActivationReason) -> None:
        if why is QSystemTrayIcon.ActivationReason.Trigger:
            self.toggled.emit()

    def _tone_without_engine(self) -> status.Tone:
        return "working" if self._link.state is Link.STARTING else "problem"

    def _show_tone(self, tone: status.Tone) -> None:
        if tone != self._tone:
            self._tone = tone
            self.icon.setIcon(icons.tray(tone))

    def _count_down(self, wanted: bool) -> None:
        if wanted and not self._countdown.isActive():
            self._countdown.start()
        elif not wanted:
            self._countdown.stop()

"""Quit: ends everything, after one question if something runs."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QMessageBox, QWidget

from app.desktop.window_settings import Settings
from app.link.choices import continues_by_itself
from app.link.engine_link import EngineLink, Link
from app.text.i18n import tr
from app.widgets.basic import Button
from app.widgets.dialog import MessageDialog

_LONGEST_LEAVE_MS = 15_000
"""The engine ends a session within seconds; after this time the engine itself hangs."""


class QuitDialog(QObject):
    """`done` is emitted when the program may end."""

    done = Signal()
    leaving = Signal()
    """The engine is ending its session; the window can close."""
    kept = Signal()
    """The program stays in the tray."""

    def __init__(self, link: EngineLink, window: QWidget, settings: Settings) -> None:
        super().__init__(window)
        self._link = link
        self._window = window
        self._settings = settings
        self._box: MessageDialog | None = None

    def ask(self) -> None:
        """Quit, after a question if something runs and the volunteer has not answered it for good."""
        if self._box:
            self._box.raise_()
        elif self.must_ask:
            self._open_dialog()
        elif self._runs and self._settings.quitting == "tray":
            self.kept.emit()
        else:
            self.end_engine()

    def end_after_signal(self) -> None:
        """End without a question: a session continues, an idle engine ends."""
        if self._runs:
            self.done.emit()
        else:
            self.end_engine()

    def end_engine(self) -> None:
        """End the engine, then the program."""
        if self._link.state is not Link.UP:
            self.done.emit()
            return
        self.leaving.emit()
        QTimer.singleShot(_LONGEST_LEAVE_MS, self, self.done.emit)
        self._link.quit_engine(self.done.emit)

    @property
    def must_ask(self) -> bool:
        return self._runs and self._settings.quitting == "ask"

    @property
    def _runs(self) -> bool:
        """Something would end: a session, or contributing that continues by itself later."""
        return self._link.snapshot is not None and continues_by_itself(self._link.snapshot)

    def _open_dialog(self) -> None:
        box = MessageDialog(
            self._window,
            tr("Quit Idlehive"),
            tr("Quitting ends contributing too."),
            tr("The limit “Contribute after a start” decides whether it continues at the next start."),
        )
        end = box.offer(tr("Quit"), QMessageBox.ButtonRole.DestructiveRole, "primary")
        keep = box.offer(tr("Keep running in the tray"), QMessageBox.ButtonRole.AcceptRole)
        box.setEscapeButton(box.offer(tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        box.setDefaultButton(end)
        always = QCheckBox(tr("Do not ask again"))
        box.setCheckBox(always)
        self._box = box
        box.finished.connect(lambda _: self._answered(end, keep, always.isChecked()))
        box.open()

    def _answered(self, end: Button, keep: Button, always: bool) -> None:
        box, self._box = self._box, None
        chosen = box.clickedButton() if box is not None else None
        if chosen is end:
            if always:
                self._settings.quitting = "end"
            self.end_engine()
        elif chosen is keep:
            if always:
                self._settings.quitting = "tray"
            self.kept.emit()

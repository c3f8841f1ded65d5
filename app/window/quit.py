"""Quit: asks whether contributing should continue without the window."""

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

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

    def __init__(self, link: EngineLink, window: QWidget) -> None:
        super().__init__(window)
        self._link = link
        self._window = window
        self._box: MessageDialog | None = None

    def ask(self) -> None:
        """Ask what to do with the session, if there is one."""
        if self._box:
            self._box.raise_()
        elif self.must_ask:
            self._open_dialog()
        else:
            self.end_engine()

    def end_after_signal(self) -> None:
        """End without a question: a session continues, an idle engine ends."""
        if self.must_ask:
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
        """Whether there is something to ask: the engine would continue to contribute."""
        return self._link.snapshot is not None and continues_by_itself(self._link.snapshot)

    def _open_dialog(self) -> None:
        box = MessageDialog(
            self._window,
            tr("Quit Idlehive"),
            tr("Should this computer continue to contribute in the background?"),
            tr("Open Idlehive at any time to see its progress or to stop it."),
        )
        go_on = box.offer(tr("Continue in the background"), QMessageBox.ButtonRole.AcceptRole, "primary")
        stop = box.offer(tr("Stop contributing"), QMessageBox.ButtonRole.DestructiveRole)
        box.setEscapeButton(box.offer(tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        box.setDefaultButton(go_on)
        self._box = box
        box.finished.connect(lambda _: self._answered(go_on, stop))
        box.open()

    def _answered(self, go_on: Button, stop: Button) -> None:
        box, self._box = self._box, None
        if box is None:
            return
        if box.clickedButton() is go_on:
            self.done.emit()
        elif box.clickedButton() is stop:
            self.end_engine()

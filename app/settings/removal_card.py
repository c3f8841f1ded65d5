""" "Remove everything" on the settings page: asks, deletes, lists what was deleted, and ends the program."""

from PySide6.QtCore import QCoreApplication, QProcess
from PySide6.QtWidgets import QMessageBox

from app.link.engine_link import EngineLink
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label
from app.widgets.dialog import MessageDialog
from app.widgets.theme import Type
from core.client.installation import core_command, core_environment


class RemovalCard(Card):
    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Remove everything"), spacing=theme.UNIT * 3)
        self._link = link
        text = tr(
            "Deletes your history, limits, projects, identity, invites, the proxy's password and the libraries for "
            "training from this computer, and start at login."
        )
        self.remove = Button(tr("Remove everything…"), "secondary", self._ask)
        self.add(Label(text, Type.CAPTION, "muted", wrap=True), layouts.row(self.remove, None))
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.finished.connect(self._show_result)
        self._process.errorOccurred.connect(self._show_error)
        self.box: MessageDialog | None = None

    def _ask(self) -> None:
        title, text = tr("Remove everything"), tr("Remove everything that Idlehive has stored?")
        explanation = tr("It cannot be undone. Export your history and your identity first if you want to keep them.")
        self.box = box = MessageDialog(self.window(), title, text, explanation)
        agree = box.offer(tr("Remove everything"), QMessageBox.ButtonRole.DestructiveRole)
        cancel = box.offer(tr("Cancel"), QMessageBox.ButtonRole.RejectRole, "primary")
        box.setEscapeButton(cancel)
        box.setDefaultButton(cancel)
        agree.clicked.connect(self._begin)
        box.open()

    def _begin(self) -> None:
        self.remove.setEnabled(False)
        # Otherwise the window would start the engine again.
        self._link.close()
        self._process.setEnvironment([f"{name}={value}" for name, value in core_environment().items()])
        program, *arguments = core_command("app", "remove-everything", "--yes", "--keep-window")
        self._process.start(program, arguments)

    def _show_result(self, code: int, status: QProcess.ExitStatus) -> None:
        done = status is QProcess.ExitStatus.NormalExit and code == 0
        said = bytes(self._process.readAllStandardOutput().data()).decode(errors="replace").strip()
        self._end_with(tr("Everything is removed") if done else tr("Not everything is removed"), said)

    def _show_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:  # all others are followed by `finished`
            self._end_with(tr("Nothing is removed"), self._process.errorString())

    def _end_with(self, title: str, details: str) -> None:
        """The connection to the engine is closed already, so the program cannot go on."""
        self.box = box = MessageDialog(self.window(), title, f"{title}. {tr('Idlehive ends now.')}", details)
        box.offer(tr("Quit"), QMessageBox.ButtonRole.AcceptRole, "primary")
        box.finished.connect(lambda _: QCoreApplication.exit(0))
        box.open()

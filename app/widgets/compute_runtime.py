"""The libraries for training: what there is of them, the progress of their installation, and what can be done."""

from collections.abc import Callable

from PySide6.QtWidgets import QMessageBox, QProgressBar, QWidget

from app.text.i18n import tr
from app.text.installation import compute_runtime
from app.widgets import layouts, theme
from app.widgets.basic import Button, Label
from app.widgets.dialog import MessageDialog
from core.api.installation.compute_runtime import ComputeRuntime, InstallRuntime, RemoveRuntime

_STEPS = 1000


class RuntimeView(QWidget):
    """`perform` gets the command of a button."""

    def __init__(self, perform: Callable[[InstallRuntime | RemoveRuntime], None]) -> None:
        super().__init__()
        self._perform = perform
        self._installing = self._asks = False
        self.text = Label("", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the installation"))
        self.install = Button(tr("Install"), "secondary", self._install)
        self.repair = Button(tr("Repair"), "secondary", lambda: perform(InstallRuntime(repair=True)))
        self.remove = Button(tr("Remove"), "secondary", lambda: perform(RemoveRuntime(only_stop=self._installing)))
        buttons = layouts.row(self.install, self.repair, self.remove, None, spacing=theme.UNIT * 2)
        layouts.column(self.text, self.bar, buttons, spacing=theme.UNIT * 2, of=self)

    def _install(self) -> None:
        """After a question where more than the profile changes."""
        if not self._asks:
            self._perform(InstallRuntime())
            return
        box = MessageDialog(self, tr("Set up training"), *compute_runtime.consent())
        agree = box.offer(tr("Set up"), QMessageBox.ButtonRole.AcceptRole, "primary")
        box.setEscapeButton(box.offer(tr("Not now"), QMessageBox.ButtonRole.RejectRole))
        box.finished.connect(lambda _: box.clickedButton() is agree and self._perform(InstallRuntime(agreed=True)))
        box.open()

    def show_runtime(self, runtime: ComputeRuntime) -> None:
        self._installing = installing = runtime.step is not None
        self._asks = runtime.needs_consent
        self.text.setText(compute_runtime.describe(runtime))
        self.bar.setVisible(installing)
        self.bar.setValue(round(_STEPS * compute_runtime.share(runtime)))
        first = tr("Set up…") if runtime.needs_consent else tr("Install")
        self.install.set_text(tr("Try again") if runtime.failure else first)
        self.install.setVisible(not installing and not runtime.ready)
        self.repair.setVisible(not installing and runtime.ready)
        self.remove.setVisible(installing or runtime.ready)
        self.remove.set_text(tr("Stop") if installing else tr("Remove"))

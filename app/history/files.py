"""The menu of the history page: export, import, picture of the year, certificate, delete."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu, QMessageBox, QWidget

from app.history import certificate
from app.history.other_machines import OtherMachines
from app.history.time_range import midnight
from app.link.engine_link import EngineLink
from app.text.formats import amounts
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets.basic import Button, Notice
from app.widgets.dialog import MessageDialog
from core.api.errors import WorldError
from core.api.record.record import DeleteHistory, ExportHistory, GetOverview, ImportHistory, Overview, Written

_GRACE_MS = 10_000
"""Time to undo a deletion."""

_LONGEST_NAME = 60

Then = Callable[[Path], None]


class HistoryFiles:
    """`refresh` is called after the record has changed, `complain` with an error sentence."""

    def __init__(
        self, page: QWidget, link: EngineLink, refresh: Callable[[], None], complain: Callable[[str], None]
    ) -> None:
        self._page, self._link, self._refresh, self._show_problem = page, link, refresh, complain
        self._others = OtherMachines(link.profile, page)
        self._others.reported.connect(self._show_done)
        self._others.changed.connect(refresh)
        self.button = Button(tr("Files"), "menu")
        self.button.setToolTip(tr("Export, import, picture, certificate, delete"))
        self._menu = QMenu(self.button)
        self.actions: dict[str, QAction] = {}
        if link.machine is None:  # the engine of another machine has other files
            self._add("export", tr("Export…"), self._ask_export)
            self._add("import", tr("Import an export…"), self._ask_import)
            self._add("collect", tr("Add my other machines"), self._others.begin)
            self._menu.addSeparator()
        self._add("summary", tr("Picture of the year…"), self._ask_summary)
        self._add("certificate", tr("Certificate to print…"), self._ask_certificate)
        self._menu.addSeparator()
        self._add("delete", tr("Delete all…"), self._ask_delete)
        self.button.setMenu(self._menu)
        self.notice = Notice("notice-frame", tr("Undo"), self.undo)
        self._written = Path()
        self.open = Button(tr("Open"), "secondary", lambda: _open(self._written))
        self.show_folder = Button(tr("Show in folder"), "secondary", lambda: _open(self._written.parent))
        self.notice.offer(self.open, self.show_folder)
        self._deletion = QTimer(page, singleShot=True, interval=_GRACE_MS)
        self._deletion.timeout.connect(self._delete)

    def export(self, path: Path) -> None:
        """Ask the engine to write the record into a file."""
        command = ExportHistory(str(path), "csv" if path.suffix.lower() == ".csv" else "json")
        self._link.ask(command, self._show_written, self._show_problem, kind=Written)

    def import_file(self, path: Path) -> None:
        """Ask the engine to add an exported file to the record."""

        def done(written: Written) -> None:
            new = amounts.hours(written.new_hours)
            self._show_done(tr("{file} is imported: {hours} new.", file=path.name, hours=new))
            self._refresh()

        self._link.ask(ImportHistory(str(path)), done, self._show_problem, kind=Written)

    def save_summary(self, path: Path) -> None:
        """Paint this year into a file."""
        year = datetime.now().astimezone().year
        begin, end = (midnight(datetime(each, 1, 1).date()) for each in (year, year + 1))  # noqa: DTZ001 - local
        self._keep(
            path,
            GetOverview(begin, end, year),
            lambda overview: certificate.save_summary(overview, path, svg=path.suffix.lower() == ".svg"),
        )

    def save_certificate(self, path: Path, name: str = "") -> None:
        self._keep(path, GetOverview(), lambda overview: certificate.save_certificate(overview, path, name))

    def delete_soon(self) -> None:
        """Delete all in ten seconds, unless the volunteer undoes it. Closing the window cancels it."""
        self._deletion.start()
        self._offer_file(None)
        self.notice.action.show()
        self.notice.set_text(tr("Your history is deleted in ten seconds."))

    def undo(self) -> None:
        """Cancel the deletion; without one, hide the notice."""
        self._deletion.stop()
        self.notice.set_text("")

    def _delete(self) -> None:
        def done(_result: object) -> None:
            self._show_done(tr("Your history is deleted. Projects and limits are unchanged."))
            self._refresh()

        self.notice.set_text("")
        self._link.ask(DeleteHistory(everything=True), done, self._show_problem)

    def _keep(self, path: Path, command: GetOverview, paint: Callable[[Overview], None]) -> None:
        def done(overview: Overview) -> None:
            try:
                paint(overview)
            except WorldError as error:
                self._show_problem(sentence(error.message))
            else:
                self._show_done(tr("{file} is written.", file=path.name), path)

        self._link.ask(command, done, self._show_problem, kind=Overview)

    def _show_written(self, written: Written) -> None:
        hours = amounts.hours(written.hours)
        path = Path(written.path)
        self._show_done(tr("{file} is written: {hours}.", file=path.name, hours=hours), path)

    def _show_done(self, sentence: str, written: Path | None = None) -> None:
        self._show_problem("")
        self.notice.action.hide()
        self._offer_file(written)
        self.notice.set_text(sentence)
        QTimer.singleShot(_GRACE_MS, self._page, lambda: self._forget(sentence))

    def _offer_file(self, written: Path | None) -> None:
        """Open the file that was written, or its folder."""
        self._written = written or Path()
        for button in (self.open, self.show_folder):
            button.setVisible(written is not None)

    def _forget(self, sentence: str) -> None:
        if self.notice.label.text() == sentence:
            self.notice.set_text("")

    def _add(self, name: str, text: str, then: Callable[[], None]) -> None:
        self.actions[name] = self._menu.addAction(text, then)

    def _ask_export(self) -> None:
        kinds = tr("For Idlehive elsewhere (*.json);;For spreadsheets too (*.csv)")
        self._ask_for_file(tr("Export the history"), "idlehive-history.json", kinds, self.export)

    def _ask_import(self) -> None:
        dialog = QFileDialog(self._page, tr("Import an export"), str(Path.home()), tr("Exports (*.json *.csv)"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        self._open(dialog, self.import_file)

    def _ask_summary(self) -> None:
        name = f"idlehive-{datetime.now().astimezone().year}.png"
        self._ask_for_file(tr("Picture of the year"), name, tr("Picture (*.png);;Drawing (*.svg)"), self.save_summary)

    def _ask_certificate(self) -> None:
        dialog = QInputDialog(self._page)
        dialog.setWindowTitle(tr("Certificate"))
        dialog.setLabelText(tr("The name on it; leave it empty for none"))
        dialog.textValueSelected.connect(self._ask_certificate_file)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_certificate_file(self, name: str) -> None:
        def save(path: Path) -> None:
            self.save_certificate(path, name.strip()[:_LONGEST_NAME])

        self._ask_for_file(tr("Certificate"), "idlehive-certificate.pdf", tr("To print (*.pdf)"), save)

    def _ask_for_file(self, title: str, name: str, kinds: str, then: Then) -> None:
        dialog = QFileDialog(self._page, title, str(Path.home() / name), kinds)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(Path(name).suffix)
        dialog.selectFile(name)
        self._open(dialog, then)

    def _open(self, dialog: QFileDialog, then: Then) -> None:
        dialog.fileSelected.connect(lambda path: then(Path(path)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _ask_delete(self) -> None:
        box = MessageDialog(
            self._page,
            tr("Delete your history"),
            tr("Delete every session, hour and epoch that was recorded here?"),
            tr(
                "This month's data count starts again at zero. Projects and limits stay. Export the history first if"
                " you may need it later."
            ),
        )
        box.offer(tr("Keep it"), QMessageBox.ButtonRole.RejectRole, "primary")
        box.offer(tr("Delete all"), QMessageBox.ButtonRole.AcceptRole).clicked.connect(
            lambda _checked: self.delete_soon()
        )
        box.open()


def _open(path: Path) -> None:
    """With the desktop's program for it."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

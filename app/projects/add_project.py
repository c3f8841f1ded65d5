"""Adding a project by its address or manifest file; what is wrong with it is said right there."""

from collections.abc import Callable

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFileDialog

from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Field, Label, Notice
from app.widgets.theme import Type


class AddProject(Card):
    """A panel with one field. `add` gets a URL or, if it `takes_files`, the path of a file."""

    def __init__(self, add: Callable[[str], None], takes_files: bool) -> None:
        super().__init__(name=tr("Add a project"))
        self._add = add
        self.field = Field(tr("Address or file of the project's manifest"), "https://…/project.json")
        self.field.returnPressed.connect(self._submit)
        self.submit = Button(tr("Add"), "primary", self._submit)
        self.problem = Notice("problem-frame")
        choose = Button(tr("Choose file…"), "secondary", self._choose)
        if not takes_files:
            choose.hide()
        row = layouts.row((self.field, 1), choose, self.submit, spacing=theme.UNIT * 2)
        hint = tr(
            "Paste the address that the organiser gave you, or choose or drop the manifest file. The project "
            "is only listed; nothing starts before you join."
        )
        heading = Label(tr("Add a project"), Type.NAME)
        self.add(heading, Label(hint, Type.CAPTION, "muted", wrap=True), row, self.problem)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.problem.set_text("")

    def show_problem(self, sentence: str) -> None:
        """The engine refused; the text stays so that it can be corrected."""
        self.submit.setEnabled(True)
        self.problem.set_text(sentence)

    def show_busy(self, source: str) -> None:
        """The manifest is being read."""
        self.field.setText(source)
        self.submit.setEnabled(False)
        self.problem.set_text("")

    def reset(self) -> None:
        """Done."""
        self.field.clear()
        self.submit.setEnabled(True)
        self.hide()

    def _submit(self) -> None:
        source = self.field.text().strip()
        if source:
            self._add(source)
        else:
            self.problem.set_text(tr("Enter the address of a project first."))

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, tr("Choose a manifest"), "", tr("Manifests (*.json);;All files (*)")
        )
        if path:
            self._add(path)


def dropped_source(data: QMimeData) -> str | None:
    """The file or address that is being dropped, None if it is something else."""
    urls = data.urls()
    if len(urls) != 1:
        return None
    if urls[0].isLocalFile():
        return urls[0].toLocalFile()
    return urls[0].toString() if urls[0].scheme() in {"http", "https"} else None

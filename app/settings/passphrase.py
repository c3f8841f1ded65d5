"""Asks for a passphrase. It never blocks: call `open()`; `given` delivers the passphrase."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Field, Label, Notice
from app.widgets.theme import Type
from core.api.identity import SHORTEST_PASSPHRASE


class PassphraseDialog(QDialog):
    """`twice`: a new one, typed twice. `option`: a box that can be ticked; whether it was comes with `given`."""

    given = Signal(str, bool)

    def __init__(self, parent: QWidget, title: str, text: str, *, twice: bool = False, option: str = "") -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.finished.connect(self.deleteLater)
        self._problem = Notice("problem-frame")
        self.first = _field(tr("Passphrase"))
        self.second = _field(tr("Once more")) if twice else None
        self.option = QCheckBox(option)
        self.option.setVisible(bool(option))
        self.accept_button = Button(title, "primary", self._submit)
        self.accept_button.setDefault(True)
        cancel = Button(tr("Cancel"), "secondary", self.reject)
        buttons = layouts.row(None, cancel, self.accept_button, spacing=theme.UNIT * 2)
        fields = [field for field in (self.first, self.second) if field]
        words = Label(text, Type.TEXT, wrap=True)
        column = layouts.column(words, *fields, self.option, self._problem, buttons, spacing=theme.UNIT * 3, of=self)
        column.setContentsMargins(*[theme.UNIT * 6] * 4)
        self.setMinimumWidth(420)

    def _submit(self) -> None:
        text = self.first.text()
        if self.second is not None and len(text) < SHORTEST_PASSPHRASE:
            self._problem.set_text(tr("A passphrase has at least {n} characters.", n=SHORTEST_PASSPHRASE))
        elif self.second is not None and text != self.second.text():
            self._problem.set_text(tr("The two are not the same."))
        elif text:
            self.given.emit(text, self.option.isChecked())
            self.accept()


def _field(name: str) -> Field:
    field = Field(name)
    field.setEchoMode(Field.EchoMode.Password)
    return field

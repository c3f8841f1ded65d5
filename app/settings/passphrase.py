"""Asks for a passphrase. It never blocks: call `open()`; `given` delivers the passphrase."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.text.i18n import tr
from app.widgets.basic import Field, Label
from app.widgets.dialog import FormDialog
from app.widgets.theme import Type
from core.api.identity import SHORTEST_PASSPHRASE


class PassphraseDialog(FormDialog):
    """`twice`: a new one, typed twice. `option`: a box that can be ticked; whether it was comes with `given`."""

    given = Signal(str, bool)

    def __init__(self, parent: QWidget, title: str, text: str, *, twice: bool = False, option: str = "") -> None:
        first, second = _field(tr("Passphrase")), _field(tr("Once more")) if twice else None
        box = QCheckBox(option)
        fields = [field for field in (first, second) if field]
        super().__init__(parent, title, Label(text, Type.TEXT, wrap=True), *fields, box, width=420)
        self.first, self.second, self.option = first, second, box
        self.option.setVisible(bool(option))

    def submit(self) -> None:
        text = self.first.text()
        if self.second is not None and len(text) < SHORTEST_PASSPHRASE:
            self.problem.set_text(tr("A passphrase has at least {n} characters.", n=SHORTEST_PASSPHRASE))
        elif self.second is not None and text != self.second.text():
            self.problem.set_text(tr("The two are not the same."))
        elif text:
            self.given.emit(text, self.option.isChecked())
            self.accept()


def _field(name: str) -> Field:
    field = Field(name)
    field.setEchoMode(Field.EchoMode.Password)
    return field

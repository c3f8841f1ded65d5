"""Asks for a passphrase. It never blocks: call `open()`; `given` delivers the passphrase."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Label, Notice
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
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.UNIT * 2)
        buttons.addStretch(1)
        buttons.addWidget(Button(tr("Cancel"), "secondary", self.reject))
        buttons.addWidget(self.accept_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.UNIT * 6] * 4)
        column.setSpacing(theme.UNIT * 3)
        column.addWidget(Label(text, Type.TEXT, wrap=True))
        column.addWidget(self.first)
        if self.second is not None:
            column.addWidget(self.second)
        column.addWidget(self.option)
        column.addWidget(self._problem)
        column.addLayout(buttons)
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


def _field(name: str) -> QLineEdit:
    field = QLineEdit()
    field.setEchoMode(QLineEdit.EchoMode.Password)
    field.setPlaceholderText(name)
    field.setAccessibleName(name)
    field.setFont(theme.font(Type.TEXT))
    return field

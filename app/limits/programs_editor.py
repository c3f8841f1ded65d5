"""The list of programs during which nothing is contributed, by names of executables."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.limits.editor import Ask, Editor, ShowProblem
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Label, clear
from app.widgets.theme import Type


class ProgramsEditor(Editor):
    """Each name with a button that removes it, and an entry for one more."""

    def __init__(self, value: Any, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self.entry = QLineEdit()
        self.entry.setFont(theme.font(Type.TEXT))
        self.entry.setPlaceholderText(tr("Such as steam or blender"))
        self.entry.setAccessibleName(tr("Name of a program to wait for"))
        self.entry.returnPressed.connect(self._add)
        self.add = Button(tr("Add"), "secondary", self._add)
        new = QHBoxLayout()
        new.setSpacing(theme.UNIT * 2)
        new.addWidget(self.entry, 1)
        new.addWidget(self.add)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        column = QVBoxLayout()
        column.addLayout(self._rows)
        column.addLayout(new)
        self.row.addLayout(column, 1)
        self._shown: object = None
        self._show()

    @property
    def names(self) -> list[str]:
        return list(self._value)

    def _show(self) -> None:
        if self._shown == self._value:
            return
        self._shown = self._value
        self.entry.clear()
        clear(self._rows)
        for name in self.names:
            self._rows.addWidget(_Row(name, partial(self._remove, name)))

    def _add(self) -> None:
        if name := self.entry.text().strip():
            self._ask((*self.names, name))

    def _remove(self, name: str) -> None:
        self._ask(tuple(other for other in self.names if other != name))


class _Row(QWidget):
    def __init__(self, name: str, remove: Callable[[], None]) -> None:
        super().__init__()
        self.remove = Button(tr("Remove"), "link", remove)
        self.remove.setAccessibleName(tr("Do not wait for {name}", name=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label(name, Type.STRONG), 1)
        row.addWidget(self.remove)

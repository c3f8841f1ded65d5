"""The list of programs during which nothing is contributed, by names of executables."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QWidget

from app.limits.editor import Ask, Editor, ShowProblem
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Field, Label
from app.widgets.theme import Type


class ProgramsEditor(Editor):
    """Each name with a button that removes it, and an entry for one more."""

    def __init__(self, value: Any, name: str, ask: Ask, show_problem: ShowProblem) -> None:
        super().__init__(value, name, ask, show_problem)
        self.entry = Field(tr("Name of a program to wait for"), tr("Such as steam or blender"))
        self.entry.returnPressed.connect(self._add)
        self.add = Button(tr("Add"), "secondary", self._add)
        self._rows = layouts.column(spacing=0)
        new = layouts.row((self.entry, 1), self.add, spacing=theme.UNIT * 2)
        self.row.addLayout(layouts.column(self._rows, new), 1)
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
        layouts.clear(self._rows)
        layouts.add(self._rows, *(_Row(name, partial(self._remove, name)) for name in self.names))

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
        layouts.row((Label(name, Type.STRONG), 1), self.remove, of=self)

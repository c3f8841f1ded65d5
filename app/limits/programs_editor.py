"""The programs during which nothing is contributed: the volunteer's own list, by name of the executable."""

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.link.engine_link import EngineLink
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Card, Label, Notice, clear
from app.widgets.theme import Type
from core.api.preferences.program_names import GetPrograms, SetPrograms


class ProgramsEditor(Card):
    """Shows what the engine says; each change asks it for another list."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(tr("Programs to wait for"))
        self._link = link
        self.names: list[str] = []
        self.problem = Notice("problem-frame")
        self.entry = QLineEdit()
        self.entry.setFont(theme.font(Type.TEXT))
        self.entry.setPlaceholderText(tr("Name of a program, such as steam or blender"))
        self.entry.setAccessibleName(tr("Name of a program to wait for"))
        self.entry.returnPressed.connect(self._add)
        self.add = Button(tr("Add"), "secondary", self._add)
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        row.addWidget(self.entry, 1)
        row.addWidget(self.add)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        text = tr("While one of these runs, nothing is contributed, whatever you do with mouse and keyboard.")
        self.column.addWidget(Label(text, Type.CAPTION, "muted", wrap=True))
        self.column.addLayout(self._rows)
        self.column.addLayout(row)
        self.column.addWidget(self.problem)

    def refresh(self) -> None:
        self._link.ask(GetPrograms(), self.show_names, self.problem.set_text, kind=list[str])

    def show_names(self, names: list[str]) -> None:
        """The list as the engine has it."""
        if names == self.names:
            return
        self.names = names
        clear(self._rows)
        for name in names:
            self._rows.addWidget(_Row(name, partial(self._remove, name)))

    def _add(self) -> None:
        if name := self.entry.text().strip():
            self._ask([*self.names, name])

    def _remove(self, name: str) -> None:
        self._ask([other for other in self.names if other != name])

    def _ask(self, names: list[str]) -> None:
        self.problem.set_text("")
        self._link.ask(SetPrograms(tuple(names)), self._done, self.problem.set_text, kind=list[str])

    def _done(self, names: list[str]) -> None:
        self.entry.clear()
        self.show_names(names)


class _Row(QWidget):
    def __init__(self, name: str, remove: Callable[[], None]) -> None:
        super().__init__()
        self.remove = Button(tr("Remove"), "link", remove)
        self.remove.setAccessibleName(tr("Do not wait for {name}", name=name))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(Label(name, Type.STRONG), 1)
        row.addWidget(self.remove)

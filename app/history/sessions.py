"""The table of sessions with its two filters, and the menu of a row."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from app.history.menu_button import MenuButton
from app.history.sessions_table import SessionsTable, cells
from app.text import history
from app.text.formats import amounts, numbers
from app.text.i18n import tr
from app.widgets import layouts, verbatim
from app.widgets.basic import Button, Card, Label
from app.widgets.theme import Type
from core.api.record.record import Habits, Overview, SessionGiven


class HistorySessions(Card):
    """`ask` requests sessions: the newest (None), or those before a moment."""

    def __init__(self, ask: Callable[[float | None], None]) -> None:
        super().__init__(name=tr("Sessions"))
        self._ask = ask
        self.project: str | None = None
        self.ending: str | None = None
        self._projects = MenuButton(tr("Sessions of this project"), self.filter_project)
        self._endings = MenuButton(tr("Sessions by their end"), self.filter_ending)
        self._count = Label("", Type.LABEL, "muted")
        self.table = SessionsTable(ask)
        self.copy = self._copy_action()
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.folded = Button("", "link", self._toggle_folded)
        self._folds = True
        self.table.sessions.folded_changed.connect(self._show_folded)
        self.add(layouts.row((self._count, 1), self.folded, self._projects, self._endings), self.table)

    def show_overview(self, overview: Overview) -> None:
        names = history.by_name(overview.projects)
        self._projects.offer({tr("All projects"): None, **names}, self.project)
        self._count.setText(amounts.sessions(overview.sessions))

    def show_habits(self, habits: Habits) -> None:
        choices = {tr("Any end"): None} | {history.reason(name): name for name in habits.endings}
        self._endings.offer(choices, self.ending)

    def show_sessions(self, sessions: list[SessionGiven], before: float | None) -> None:
        """Show the newest sessions, or append those `before` a moment."""
        if before is None:
            self.table.sessions.show(sessions)
        else:
            self.table.sessions.add(sessions)

    def menu(self, session: SessionGiven) -> QMenu:
        """What a right click on a session offers: copy what is selected, and sessions like this one only."""
        menu = QMenu(self.table)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.copy)
        menu.addSeparator()
        for filter_button, value in (
            (self._projects, session.project),
            (self._endings, session.ending.kind if session.ending else None),
        ):
            if name := filter_button.name_of(value):
                only = tr("Only “{name}”", name=verbatim.in_menu(name))
                menu.addAction(only, partial(filter_button.choose, name))
        return menu

    def _copy_action(self) -> QAction:
        action = QAction(tr("Copy"), self.table)
        action.setShortcut(QKeySequence.StandardKey.Copy)
        action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(self._copy)
        self.table.addAction(action)
        return action

    def _copy(self) -> None:
        """The selected rows as a table that spreadsheets take."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        lines = ("\t".join(cells(self.table.sessions.sessions[row])) for row in rows)
        QGuiApplication.clipboard().setText("\n".join(lines))

    def _open_menu(self, at: QPoint) -> None:
        if (index := self.table.indexAt(at)).isValid():
            self.menu(self.table.sessions.sessions[index.row()]).popup(self.table.viewport().mapToGlobal(at))

    def _toggle_folded(self) -> None:
        self._folds = not self._folds
        self.table.sessions.fold(self._folds)

    def _show_folded(self, number: int) -> None:
        shown, hidden = tr("Hide those that gave nothing"), tr("Show {n} that gave nothing", n=numbers.count(number))
        self.folded.set_text(hidden if self._folds else shown)
        self.folded.setVisible(number > 0)

    def filter_project(self, project: str | None) -> None:
        self.project = project
        self._ask(None)

    def filter_ending(self, ending: str | None) -> None:
        self.ending = ending
        self._ask(None)

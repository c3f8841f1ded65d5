"""The limits page: everything the engine lets one choose, in groups, each with what is used now beside it.

The rows are made from the engine's answer alone, so a new limit needs no line here.
"""

from itertools import groupby

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.limits.programs_editor import ProgramsEditor
from app.limits.row import Actions, LimitRow
from app.link.engine_link import EngineLink, Link
from app.text import limits as limits_text
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Card, Label, Notice, clear
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.preferences.limits import LimitInfo, ResetLimit, SetLimit, ShowLimits
from core.api.preferences.preferences import GENTLE
from core.api.protocol import Command
from core.api.snapshot import Snapshot


class LimitsPage(Page):
    """Asks for all limits when it is shown, after every change, and when what counts changes by itself."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self.rows: dict[str, LimitRow] = {}
        """By plain name."""
        self._shape: list[str] = []
        self._changing = 0
        """Changes under way: an answer that is older than the last of them would move the handle back for a moment."""
        self._counted: object = None
        self._build()
        link.snapshot_changed.connect(self._on_snapshot)
        link.link_changed.connect(self._on_link)
        self._on_link(link.state, link.sentence)

    def refresh(self) -> None:
        """Fetch all limits, if anyone looks."""
        if self.isVisible() and self._link.state is Link.UP:
            self.programs.refresh()
            self._link.ask(ShowLimits(), self.show_limits, self._problem.set_text, kind=list[LimitInfo])

    def show_limits(self, limits: list[LimitInfo]) -> None:
        """All limits, as the engine has them."""
        if self._changing:
            return
        self._problem.set_text("")
        families = _families(limits)
        if [limit.name for limit in limits] != self._shape:
            self._shape = [limit.name for limit in limits]
            self._make_rows(families)
        for plain, family in families.items():
            self.rows[plain].show_limits(family)
        self._show_live()

    def change(self, name: str, value: int) -> None:
        """Have the engine set a limit."""
        self._ask(name, SetLimit(name, value))

    def reset(self, name: str) -> None:
        """Have the engine go back to a limit's default."""
        self._ask(name, ResetLimit(name))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _build(self) -> None:
        self._problem = Notice("problem-frame")
        self._groups = QVBoxLayout()
        self._groups.setSpacing(theme.GAP)
        head = QVBoxLayout()
        head.setSpacing(theme.UNIT)
        head.addWidget(Label(tr("Limits"), Type.HEADLINE))
        text = tr("What Idlehive may use of this computer. Changes count at once, also while it contributes.")
        head.addWidget(Label(text, Type.TEXT, "muted", wrap=True))
        column = self.column
        column.addLayout(head)
        column.addWidget(self._problem)
        column.addLayout(self._groups)
        self.programs = ProgramsEditor(self._link)
        column.addWidget(self.programs)
        column.addStretch(1)

    def _make_rows(self, families: dict[str, list[LimitInfo]]) -> None:
        clear(self._groups)
        self.rows = {}
        actions = Actions(self.change, self.reset)
        by_page = sorted(families.values(), key=lambda family: limits_text.page_order(family[0].page))
        for page, group in groupby(by_page, key=lambda family: family[0].page):
            card = Card(limits_text.page_name(page))
            card.column.setSpacing(theme.UNIT * 3)
            for number, family in enumerate(group):
                if number:
                    card.column.addWidget(_line())
                row = self.rows[family[0].name] = LimitRow(family, actions)
                card.column.addWidget(row)
            self._groups.addWidget(card)

    def _ask(self, name: str, command: Command) -> None:
        row = self.rows[name.removeprefix(GENTLE)]
        row.show_problem("")
        self._changing += 1

        def done(_limit: object) -> None:
            self._changing -= 1
            self.refresh()

        def refused(sentence: str) -> None:
            self._changing -= 1
            row.show_problem(sentence)
            row.put_back()

        self._link.ask(command, done, refused)

    def _show_live(self) -> None:
        if snapshot := self._link.snapshot:
            for row in self.rows.values():
                row.show_snapshot(snapshot)

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        if not self.isVisible():
            return
        self._show_live()
        # What counts changes with the hours of the schedule, and by the command line.
        counted = (snapshot.settings, snapshot.schedule.level)
        if counted != self._counted:
            self._counted = counted
            self.refresh()

    def _on_link(self, state: Link, _sentence: str) -> None:
        self.content.setEnabled(state is Link.UP)
        self.refresh()


def _families(limits: list[LimitInfo]) -> dict[str, list[LimitInfo]]:
    """Each limit with its counterpart for gentle hours, by plain name."""
    families: dict[str, list[LimitInfo]] = {}
    for limit in limits:
        families.setdefault(limit.name.removeprefix(GENTLE), []).append(limit)
    return families


def _line() -> QFrame:
    line = QFrame()
    theme.set_role(line, "line")
    line.setFixedHeight(1)
    return line

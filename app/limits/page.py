"""The limits page: everything the engine lets one choose, in groups, each with what is used now beside it.

The rows are made from the engine's answer alone, so a new preference needs no line here.
"""

from collections.abc import Iterable
from itertools import groupby

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.limits.row import Actions, PreferenceRow
from app.link.engine_link import EngineLink, Link
from app.text import preferences
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Card, Label, Notice, clear
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.preferences import GENTLE
from core.api.preferences.value_types import Value, Week
from core.api.protocol import Command
from core.api.snapshot import Snapshot


class LimitsPage(Page):
    """Asks for all limits when it is shown, after every change, and when what counts changes by itself."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self.rows: dict[str, PreferenceRow] = {}
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
        """Fetch all preferences, if the page is visible."""
        if self.isVisible() and self._link.state is Link.UP:
            self._link.ask(ListPreferences(), self.show_preferences, self._problem.set_text, kind=list[PreferenceInfo])

    def show_preferences(self, known: list[PreferenceInfo]) -> None:
        """All preferences, as the engine has them. The week has a page of its own."""
        if self._changing:
            return
        self._problem.set_text("")
        families = _families(info for info in known if not isinstance(info.type, Week))
        names = [info.name for info in known]
        if names != self._shape:
            self._shape = names
            self._make_rows(families)
        for plain, family in families.items():
            self.rows[plain].show_values(family)
        self._show_live()

    def change(self, name: str, value: Value) -> None:
        """Have the engine set a preference."""
        self._ask(name, SetPreference(name, value))

    def reset(self, name: str) -> None:
        """Have the engine go back to the default."""
        self._ask(name, ResetPreference(name))

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
        column.addStretch(1)

    def _make_rows(self, families: dict[str, list[PreferenceInfo]]) -> None:
        clear(self._groups)
        self.rows = {}
        actions = Actions(self.change, self.reset)
        by_page = sorted(families.values(), key=lambda family: preferences.page_order(family[0].page))
        for page, group in groupby(by_page, key=lambda family: family[0].page):
            card = Card(preferences.page_name(page))
            card.column.setSpacing(theme.UNIT * 3)
            for number, family in enumerate(group):
                if number:
                    card.column.addWidget(_line())
                row = self.rows[family[0].name] = PreferenceRow(family, actions)
                card.column.addWidget(row)
            self._groups.addWidget(card)

    def _ask(self, name: str, command: Command) -> None:
        row = self.rows[name.removeprefix(GENTLE)]
        row.show_problem("")
        self._changing += 1

        def done(_info: object) -> None:
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
        # What applies changes with the hours of the schedule, and by the command line.
        counted = (snapshot.settings, snapshot.schedule.level)
        if counted != self._counted:
            self._counted = counted
            self.refresh()

    def _on_link(self, state: Link, _sentence: str) -> None:
        self.content.setEnabled(state is Link.UP)
        self.refresh()


def _families(known: Iterable[PreferenceInfo]) -> dict[str, list[PreferenceInfo]]:
    """Each preference with its counterpart for gentle hours, by plain name."""
    families: dict[str, list[PreferenceInfo]] = {}
    for info in known:
        families.setdefault(info.name.removeprefix(GENTLE), []).append(info)
    return families


def _line() -> QFrame:
    line = QFrame()
    theme.set_role(line, "line")
    line.setFixedHeight(1)
    return line

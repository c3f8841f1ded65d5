"""The limits page: every preference that the engine lists, in groups, with the live value of each.

All rows come from the engine's answer, so a new preference needs no line here.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMessageBox

from app.limits.row import Actions, PreferenceRow
from app.link.engine_link import EngineLink
from app.link.live_page import LivePage
from app.text import preferences
from app.text.formats import numbers
from app.text.i18n import tr, trn
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Line, ToggleButton
from app.widgets.dialog import MessageDialog
from app.widgets.theme import Type
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference, values_of
from core.api.preferences.preferences import GENTLE
from core.api.preferences.value_types import Value, Week
from core.api.protocol import Command
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import Snapshot


class LimitsPage(LivePage):
    """Also fetches after every change, and when other values apply."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(link)
        self.rows: dict[str, PreferenceRow] = {}
        """By plain name."""
        self._shape: list[str] = []
        self._changing = 0
        """Changes without an answer: an older answer would move the handle back for a moment."""
        self._applying: object = None
        self._wanted: str | None = None
        """The preference to bring into sight once the rows are there."""
        self._cards: list[tuple[Card, list[tuple[Line, PreferenceRow]]]] = []
        self._lacks: frozenset[str] = frozenset()
        """What is about parts that this computer does not have."""
        self._pointless: frozenset[str] = frozenset()
        """What is about something that the volunteer does not use."""
        self._unfolded = False
        self._build()
        link.snapshot_changed.connect(self._on_snapshot)
        self.follow_link()

    def fetch(self) -> None:
        self.ask(ListPreferences(), self.show_preferences, list[PreferenceInfo])
        self.ask(GetSensors(), self._on_sensors, list[SensorInfo])

    def enable(self, up: bool) -> None:
        self.content.setEnabled(up)

    def show_preferences(self, known: list[PreferenceInfo]) -> None:
        """All preferences, as the engine has them. The week has a page of its own."""
        if self._changing:
            return
        self.problem.set_text("")
        families = _families(info for info in known if not isinstance(info.type, Week))
        names = [info.name for info in known]
        if names != self._shape:
            self._shape = names
            self._make_rows(families)
        for plain, family in families.items():
            self.rows[plain].show_values(family)
        self._pointless = preferences.pointless(values_of(known))
        self._arrange()
        self._show_live()
        QTimer.singleShot(0, self, self._reveal)

    def reveal(self, name: str) -> None:
        """Bring a preference into sight and give it the keyboard, now or when the engine has answered."""
        self._wanted = name
        if self.rows:
            QTimer.singleShot(0, self, self._reveal)

    def _reveal(self) -> None:
        if row := self.rows.get(self._wanted or ""):
            self._wanted = None
            if row.isHidden():
                self.only_changed.setChecked(False)
                self._show_lacking()
            self.column.activate()
            self.ensureWidgetVisible(row, 0, self.viewport().height() // 3)
            row.focus()

    def change(self, name: str, value: Value) -> None:
        self._request(name, SetPreference(name, value))

    def reset(self, name: str) -> None:
        self._request(name, ResetPreference(name))

    def _build(self) -> None:
        self._groups = layouts.column(spacing=theme.GAP)
        text = tr("What Idlehive may use of this computer. Changes apply at once, also while it contributes.")
        heading, caption = Label(tr("Limits"), Type.HEADLINE), Label(text, Type.TEXT, "muted", wrap=True)
        self.only_changed = ToggleButton(tr("Only changed"), self._arrange)
        self.reset_all = Button(tr("Reset all…"), "secondary", self._ask_to_reset)
        self.lacking = Button("", "link", self._show_lacking)
        top = layouts.row((heading, 1), self.only_changed, self.reset_all, spacing=theme.UNIT * 2)
        head = layouts.column(top, caption, spacing=theme.UNIT)
        self.fill(head, self.problem, self._groups, layouts.row(self.lacking, None), None)

    def _make_rows(self, families: dict[str, list[PreferenceInfo]]) -> None:
        layouts.clear(self._groups)
        self.rows, self._cards = {}, []
        actions = Actions(self.change, self.reset)
        by_page = sorted(families.values(), key=lambda family: preferences.page_order(family[0].page))
        for page, group in groupby(by_page, key=lambda family: family[0].page):
            card = Card(preferences.page_name(page), spacing=theme.UNIT * 3)
            parts = []
            for family in group:
                row, line = PreferenceRow(family, actions), Line()
                self.rows[family[0].name] = row
                parts.append((line, row))
                card.add(line, row)
            self._cards.append((card, parts))
            self._groups.addWidget(card)

    def _arrange(self) -> None:
        """Show the rows that are wanted, with lines between them."""
        hidden = [name for name, row in self.rows.items() if name in self._lacks and not row.is_changed]
        folded = set() if self._unfolded else set(hidden)
        folded |= self._pointless
        if self.only_changed.isChecked():
            folded |= {name for name, row in self.rows.items() if not row.is_changed}
        for card, parts in self._cards:
            shown = [row for _, row in parts if row.name not in folded]
            for line, row in parts:
                row.setVisible(row in shown)
                line.setVisible(row in shown[1:])
            card.setVisible(bool(shown))
        self.reset_all.setEnabled(any(row.is_changed for row in self.rows.values()))
        text = trn(
            "Show 1 limit of what this computer does not have",
            "Show {n} limits of what this computer does not have",
            len(hidden),
            n=numbers.count(len(hidden)),
        )
        self.lacking.set_text(text)
        self.lacking.setVisible(bool(hidden) and not self._unfolded and not self.only_changed.isChecked())

    def _show_lacking(self) -> None:
        self._unfolded = True
        self._arrange()

    def _on_sensors(self, sensors: list[SensorInfo]) -> None:
        self._lacks = preferences.lacking(sensors)
        self._arrange()

    def _ask_to_reset(self) -> None:
        changed = [name for row in self.rows.values() for name in row.changed]
        box = MessageDialog(
            self,
            tr("Reset all limits"),
            tr("Set every limit back to its default?"),
            tr("Your schedule and your projects stay."),
        )
        box.offer(tr("Keep them"), QMessageBox.ButtonRole.RejectRole, "primary")
        reset = box.offer(tr("Reset all"), QMessageBox.ButtonRole.AcceptRole)
        reset.clicked.connect(lambda _checked: self._reset(changed))
        box.open()

    def _reset(self, names: Sequence[str]) -> None:
        for name in names:
            self.reset(name)

    def _request(self, name: str, command: Command) -> None:
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

        self.link.ask(command, done, refused)

    def _show_live(self) -> None:
        if snapshot := self.link.snapshot:
            for row in self.rows.values():
                row.show_snapshot(snapshot)

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        if not self.isVisible():
            return
        self._show_live()
        # What applies changes with the hours of the schedule, and by the command line.
        applying = (snapshot.settings, snapshot.schedule.level)
        if applying != self._applying:
            self._applying = applying
            self.refresh()


def _families(known: Iterable[PreferenceInfo]) -> dict[str, list[PreferenceInfo]]:
    """Each preference with its counterpart for gentle hours, by plain name."""
    families: dict[str, list[PreferenceInfo]] = {}
    for info in known:
        families.setdefault(info.name.removeprefix(GENTLE), []).append(info)
    return families

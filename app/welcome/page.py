"""The welcome page: what Idlehive is, the hardware of this computer, how much to give, and to which project."""

from collections.abc import Callable, Sequence
from textwrap import shorten

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QScrollArea, QWidget

from app.link.engine_link import EngineLink, Link
from app.text.formats.sentences import closed
from app.text.i18n import tr
from app.welcome import hardware_summary, usage_presets
from app.welcome.choice_card import ChoiceCard
from app.welcome.usage_presets import UsagePreset
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, Line, Logo, Notice
from app.widgets.theme import Type
from core.api.project.projects import ListProjects, ProjectInfo
from core.api.protocol import Command
from core.api.sensors import GetSensors, SensorInfo

_ROOMY_WIDTH = 900
_LONGEST_SUMMARY = 160
_SENSORS_MS = 2000
"""What the sensors say has an age: "last used 35 s ago"."""


class WelcomePage(QWidget):
    """`left` receives the page to open next: `home`, `projects` or `schedule`."""

    def __init__(self, link: EngineLink, left: Callable[[str], None]) -> None:
        super().__init__()
        self._link = link
        self._left = left
        self.levels: dict[UsagePreset, ChoiceCard] = {}
        self.projects: dict[str, ChoiceCard] = {}
        self._summary = Label(kind=Type.CAPTION, role="muted", wrap=True)
        self._build()
        self._sensors = QTimer(self, interval=_SENSORS_MS)
        self._sensors.timeout.connect(self._fetch_sensors)
        self._sensors.start()
        link.link_changed.connect(self._on_link)
        self._on_link()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(4 if self.width() >= _ROOMY_WIDTH else 2)

    @property
    def level(self) -> UsagePreset:
        return next(level for level, card in self.levels.items() if card.isChecked())

    @property
    def project(self) -> str | None:
        """The chosen project, None before the engine has answered."""
        return next((name for name, card in self.projects.items() if card.isChecked()), None)

    def begin(self) -> None:
        """Send all choices to the engine, one after the other, and contribute."""
        self._problem.set_text("")
        self.start.setEnabled(False)
        begin = usage_presets.contribution(self.level, self.project)
        self._send([*usage_presets.settings(self.level), begin], "schedule" if self._is_custom else "home")

    def look_around(self, page: str) -> None:
        """Keep how much may be used, and open a page without contributing."""
        if self._link.state is Link.UP:
            self._send(usage_presets.settings(self.level), page)
        else:
            self._left(page)

    @property
    def _is_custom(self) -> bool:
        return self.level is UsagePreset.CUSTOM

    def _send(self, commands: Sequence[Command], page: str) -> None:
        if not commands:
            self._left(page)
            return
        self._link.ask(commands[0], lambda _: self._send(commands[1:], page), self._on_refused)

    def _build(self) -> None:
        content = QWidget()
        does = _promises(
            tr("What it does"),
            tr("Computes a small part of a training run and averages it with others."),
            tr("Stops at once when you need the computer, and shows why it waits."),
            tr("Records what you gave: samples, bytes and watt-hours."),
        )
        never = _promises(
            tr("What it never does"),
            tr("Reads your files, or sends anything but its computed results."),
            tr("Runs code that comes from the network: a project is only data, and is checked."),
            tr("Exceeds your limits, or starts before you allow it."),
        )
        how_much = Label(tr("How much may it use?"), Type.NAME)
        what = Label(tr("What do you want to help with?"), Type.NAME)
        self._list = layouts.column(spacing=theme.UNIT * 2)
        promises = layouts.row((does, 1), (never, 1), spacing=theme.GAP)
        questions = how_much, self._usage_preset(), what, self._list
        column = layouts.column(_head(), promises, self._machine(), *questions, None, spacing=theme.GAP, of=content)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.UNIT * 6, theme.PAGE_MARGIN, theme.UNIT * 4)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(content)
        layouts.column((area, 1), self._foot(), spacing=0, of=self)

    def _machine(self) -> Card:
        self._found = layouts.grid(theme.UNIT * 5, theme.UNIT, 0, 1, 0, 1)
        self._shown: list[tuple[str, str]] = []
        self._show_hardware([])
        return Card(tr("Found in this computer"), self._found)

    def _usage_preset(self) -> QGridLayout:
        self._levels = layouts.grid(theme.UNIT * 2, theme.UNIT * 2)
        group = QButtonGroup(self)
        for level in UsagePreset:
            card = self.levels[level] = ChoiceCard(*usage_presets.words(level))
            card.toggled.connect(lambda _: self._sum_up())
            group.addButton(card)
        self.levels[UsagePreset.GENTLE].setChecked(True)
        self._columns = 0
        self._arrange(4)
        return self._levels

    def _foot(self) -> QWidget:
        self._problem = Notice("problem-frame")
        self.start = Button(tr("Contribute"), "primary", self.begin)
        self.start.setDefault(True)
        self.start.setAutoDefault(True)
        self._summary.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self.address = Button(tr("I have a project's address…"), "link", lambda: self.look_around("projects"))
        self.later = Button(tr("Look around first"), "link", lambda: self.look_around("home"))
        space = theme.UNIT * 3
        row = layouts.row(self.start, (self._summary, 1), self.later, self.address, spacing=space)
        inside = layouts.column(self._problem, row, spacing=space)
        inside.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
        foot = QWidget()
        layouts.column(Line(), inside, spacing=space, of=foot).setContentsMargins(0, 0, 0, theme.UNIT * 4)
        return foot

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self.levels.values()):
            self._levels.addWidget(card, number // columns, number % columns)
        for column in range(4):
            self._levels.setColumnStretch(column, 1 if column < columns else 0)

    def _on_link(self, *_: object) -> None:
        up = self._link.state is Link.UP
        self.start.setEnabled(up)
        if up:
            self._fetch_sensors()
            self._link.ask(ListProjects(), self.show_projects, kind=list[ProjectInfo])

    def _fetch_sensors(self) -> None:
        if self._link.state is Link.UP:
            self._link.ask(GetSensors(), self._show_hardware, kind=list[SensorInfo])

    def _show_hardware(self, sensors: list[SensorInfo]) -> None:
        lines = hardware_summary.lines(hardware_summary.this_computer(), sensors)
        if lines == self._shown:
            return
        self._shown = lines
        while item := self._found.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        for number, (name, value) in enumerate(lines):
            row, column = number // 2, number % 2 * 2
            self._found.addWidget(Label(name, Type.CAPTION, "muted"), row, column, Qt.AlignmentFlag.AlignTop)
            self._found.addWidget(Label(value, Type.CAPTION, wrap=True), row, column + 1)

    def show_projects(self, projects: list[ProjectInfo]) -> None:
        """The first is preselected: it needs no network and no trust."""
        before = self.project
        layouts.clear(self._list)
        group = QButtonGroup(self)
        self.projects = {info.id: ChoiceCard(info.name, _line(info)) for info in projects}
        layouts.add(self._list, *self.projects.values())
        for card in self.projects.values():
            group.addButton(card)
            card.toggled.connect(lambda _: self._sum_up())
        if self.projects:
            self.projects.get(before or "", next(iter(self.projects.values()))).setChecked(True)

    def _sum_up(self) -> None:
        """The choice in words, beside the button."""
        names = [card.text() for card in (*self.levels.values(), *self.projects.values()) if card.isChecked()]
        self._summary.setText(" · ".join(names))

    def _on_refused(self, sentence: str) -> None:
        self.start.setEnabled(self._link.state is Link.UP)
        self._problem.set_text(sentence)


def _head() -> QHBoxLayout:
    heading = Label(tr("Welcome to Idlehive"), Type.HEADLINE)
    text = tr("Your computer's idle time helps many people train a neural network together, in the open.")
    words = layouts.column(heading, Label(text, Type.TEXT, "muted", wrap=True), spacing=theme.UNIT // 2)
    return layouts.row(Logo(56), (words, 1), spacing=theme.UNIT * 4)


def _promises(heading: str, *sentences: str) -> Card:
    rows = ((Label("•", role="accent"), Label(sentence, wrap=True)) for sentence in sentences)
    return Card(heading, layouts.table(rows, theme.UNIT * 2), None)


def _line(info: ProjectInfo) -> str:
    summary = shorten(info.summary, _LONGEST_SUMMARY, placeholder=" …")
    where = tr("Practice, on this computer only") if info.practice else tr("by {name}", name=info.organiser)
    return f"{closed(where)} {summary}"

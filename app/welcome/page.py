"""The welcome page: what Idlehive is, the hardware of this computer, how much to give, and to which project."""

from collections.abc import Callable, Sequence
from textwrap import shorten

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.link.engine_link import EngineLink, Link
from app.text.i18n import tr
from app.welcome import hardware_summary, usage_presets
from app.welcome.choice_card import ChoiceCard
from app.welcome.usage_presets import UsagePreset
from app.widgets import icons, theme
from app.widgets.basic import Button, Card, Label, Notice, clear
from app.widgets.theme import Type
from core.api.project.projects import ListProjects, ProjectInfo
from core.api.protocol import Command
from core.api.sensors import GetSensors, SensorInfo

_ROOMY_WIDTH = 900
_LONGEST_SUMMARY = 160


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
        link.link_changed.connect(self._on_link)
        self._on_link()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange(4 if self.width() >= _ROOMY_WIDTH else 2)

    @property
    def level(self) -> UsagePreset:
        """The chosen preset."""
        return next(level for level, card in self.levels.items() if card.isChecked())

    @property
    def project(self) -> str | None:
        """The chosen project, None before the engine has answered."""
        return next((name for name, card in self.projects.items() if card.isChecked()), None)

    def begin(self) -> None:
        """Send all choices to the engine, one after the other, and contribute."""
        self._problem.set_text("")
        self.start.setEnabled(False)
        self._send([*usage_presets.settings(self.level), usage_presets.contribution(self.level, self.project)])

    def _send(self, commands: Sequence[Command]) -> None:
        if not commands:
            self._left("schedule" if self.level is UsagePreset.CUSTOM else "home")
            return
        self._link.ask(commands[0], lambda _: self._send(commands[1:]), self._on_refused)

    def _build(self) -> None:
        content = QWidget()
        self._column = column = QVBoxLayout(content)
        column.setContentsMargins(theme.PAGE_MARGIN, theme.UNIT * 6, theme.PAGE_MARGIN, theme.UNIT * 4)
        column.setSpacing(theme.GAP)
        column.addLayout(_head())
        promises = QHBoxLayout()
        promises.setSpacing(theme.GAP)
        promises.addWidget(_promises(tr("What it does"), _does()), 1)
        promises.addWidget(_promises(tr("What it never does"), _never()), 1)
        column.addLayout(promises)
        column.addWidget(self._machine())
        column.addWidget(Label(tr("How much may it use?"), Type.NAME))
        column.addLayout(self._usage_preset())
        column.addWidget(Label(tr("What do you want to help with?"), Type.NAME))
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.UNIT * 2)
        column.addLayout(self._list)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(area, 1)
        outer.addWidget(self._foot())

    def _machine(self) -> Card:
        card = Card(tr("Found in this computer"))
        self._found = QGridLayout()
        self._found.setHorizontalSpacing(theme.UNIT * 5)
        self._found.setVerticalSpacing(theme.UNIT)
        self._found.setColumnStretch(1, 1)
        self._found.setColumnStretch(3, 1)
        card.column.addLayout(self._found)
        self._show_hardware([])
        return card

    def _usage_preset(self) -> QGridLayout:
        self._levels = QGridLayout()
        self._levels.setSpacing(theme.UNIT * 2)
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
        self.address = Button(tr("I have a project's address…"), "link", lambda: self._left("projects"))
        self.later = Button(tr("Look around first"), "link", lambda: self._left("home"))
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 3)
        row.addWidget(self.start)
        row.addWidget(self._summary, 1)
        row.addWidget(self.later)
        row.addWidget(self.address)
        foot = QWidget()
        column = QVBoxLayout(foot)
        column.setContentsMargins(0, 0, 0, theme.UNIT * 4)
        column.setSpacing(theme.UNIT * 3)
        line = QFrame()
        theme.set_role(line, "line")
        line.setFixedHeight(1)
        column.addWidget(line)
        inside = QVBoxLayout()
        inside.setContentsMargins(theme.PAGE_MARGIN, 0, theme.PAGE_MARGIN, 0)
        inside.setSpacing(theme.UNIT * 3)
        inside.addWidget(self._problem)
        inside.addLayout(row)
        column.addLayout(inside)
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
            self._link.ask(GetSensors(), self._show_hardware, kind=list[SensorInfo])
            self._link.ask(ListProjects(), self.show_projects, kind=list[ProjectInfo])

    def _show_hardware(self, sensors: list[SensorInfo]) -> None:
        while item := self._found.takeAt(0):
            if widget := item.widget():
                widget.deleteLater()
        for number, line in enumerate(hardware_summary.lines(hardware_summary.this_computer(), sensors)):
            row, column = number // 2, number % 2 * 2
            self._found.addWidget(Label(line.name, Type.CAPTION, "muted"), row, column, Qt.AlignmentFlag.AlignTop)
            self._found.addWidget(Label(line.value, Type.CAPTION, wrap=True), row, column + 1)

    def show_projects(self, projects: list[ProjectInfo]) -> None:
        """The first is preselected: it needs no network and no trust."""
        before = self.project
        clear(self._list)
        group = QButtonGroup(self)
        self.projects = {info.id: ChoiceCard(info.name, _line(info)) for info in projects}
        for card in self.projects.values():
            self._list.addWidget(card)
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
    picture = QLabel()
    picture.setPixmap(icons.logo_picture(56, picture.devicePixelRatioF()))
    picture.setAccessibleName(tr("The logo of Idlehive"))
    words = QVBoxLayout()
    words.setSpacing(theme.UNIT // 2)
    words.addWidget(Label(tr("Welcome to Idlehive"), Type.HEADLINE))
    text = tr("Your computer's idle time helps many people train a neural network together, in the open.")
    words.addWidget(Label(text, Type.TEXT, "muted", wrap=True))
    row = QHBoxLayout()
    row.setSpacing(theme.UNIT * 4)
    row.addWidget(picture)
    row.addLayout(words, 1)
    return row


def _promises(heading: str, sentences: Sequence[str]) -> Card:
    card = Card(heading)
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.UNIT * 2)
    grid.setVerticalSpacing(theme.UNIT)
    grid.setColumnStretch(1, 1)
    for number, sentence in enumerate(sentences):
        grid.addWidget(Label("•", role="accent"), number, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Label(sentence, wrap=True), number, 1)
    card.column.addLayout(grid)
    card.column.addStretch(1)
    return card


def _does() -> tuple[str, ...]:
    return (
        tr("Computes a small part of a training run and averages it with others."),
        tr("Stops at once when you need the computer, and shows why it waits."),
        tr("Records what you gave: samples, bytes and watt-hours."),
    )


def _never() -> tuple[str, ...]:
    return (
        tr("Reads your files, or sends anything but its computed results."),
        tr("Runs code that comes from the network: a project is described by numbers alone."),
        tr("Exceeds your limits, or starts before you allow it."),
    )


def _line(info: ProjectInfo) -> str:
    summary = shorten(info.summary, _LONGEST_SUMMARY, placeholder=" …")
    where = tr("Practice, on this computer only") if info.practice else tr("by {name}", name=info.organiser)
    return f"{where}. {summary}"

"""One project in the list: what it is, how it goes, whether it fits, and what can be done with it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.projects.details import Details
from app.projects.order_handle import OrderHandle
from app.projects.picture import ProjectPicture
from app.projects.sparkline import Sparkline
from app.text import numbers, projects
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import theme
from app.widgets.basic import Button, Card, Dot, Label, Notice
from app.widgets.theme import Type
from core.api.project.projects import CurvePoint, ProjectDetails, ProjectInfo
from core.api.snapshot import Snapshot

_PEERS_WIDTH = 130


@dataclass(frozen=True)
class Actions:
    """What a card asks of its page; each gets the project's id."""

    contribute: Callable[[str], None]
    join: Callable[[str, str | None], None]
    leave: Callable[[str], None]
    show: Callable[[str], None]
    move: Callable[[str, int], None]


class ProjectCard(Card):
    """A row of the list of projects. `members`: how many projects are joined."""

    def __init__(self, info: ProjectInfo, actions: Actions, members: int = 1) -> None:
        super().__init__()
        self.info = info
        self.fits: bool | None = None
        """None until the engine has told."""
        self._actions = actions
        self._curve: list[CurvePoint] = []
        self._details: Details | None = None
        self.problem = Notice("problem-frame")
        self.picture = ProjectPicture(info.id, info.name)
        self.setAccessibleName(tr("Project {name}", name=info.name))
        self.column.setSpacing(theme.UNIT * 3)
        self.column.addLayout(self._head(members))
        self.column.addLayout(self._facts())
        self.column.addWidget(self.problem)
        self.column.addLayout(self._buttons())

    def show_facts(self, details: ProjectDetails) -> None:
        """What it needs, and whether this computer has it."""
        self.fits = not details.missing
        self._needs.setText(projects.needs_line(details.requirements))
        self._verdict.setText(projects.verdict(details.missing))
        theme.set_role(self._verdict, "good" if self.fits else "problem")
        self._verdict_dot.set_tone("good" if self.fits else "problem")
        self._verdict_row.show()
        self._given.setText(projects.given(details))
        self._given.setVisible(bool(self._given.text()))
        counted = tr("As the project's backbone counts what volunteers say they gave.")
        self._given.setToolTip(counted if details.place else "")

    def show_curve(self, points: Sequence[CurvePoint]) -> None:
        """The learning curve, and the peers that it tells of."""
        self._curve = list(points)
        self._sparkline.show_points(points)
        last = next((point.loss for point in reversed(self._curve) if point.loss is not None), None)
        self._loss.setText(tr("No epoch yet") if last is None else tr("Loss {loss}", loss=numbers.decimal(last, 2)))
        self.show_snapshot(None)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Who takes part now."""
        figure, caption = projects.peers(self.info, self._curve, snapshot, time.time())
        self._peers.setText(figure)
        self._peers_caption.setText(caption)

    def show_details(self, details: ProjectDetails) -> None:
        """Unfold."""
        self.fold()
        self.show_facts(details)
        self._details = Details(details, self._join)
        self.column.addWidget(self._details)
        self.details.set_text(tr("Less"))

    def fold(self) -> None:
        """Hide the details again."""
        self.details.set_text(tr("Details"))
        if self._details:
            self._details.hide()
            self._details.deleteLater()
            self._details = None

    @property
    def unfolded(self) -> bool:
        return self._details is not None

    def _head(self, members: int) -> QHBoxLayout:
        title = QHBoxLayout()
        title.setSpacing(theme.UNIT * 2)
        title.addWidget(Label(self.info.name, Type.NAME, wrap=True), 1)
        for text, role in projects.badges(self.info, members):
            title.addWidget(Label(text, Type.CAPTION, role), 0, Qt.AlignmentFlag.AlignTop)
        self.handle = OrderHandle(
            self.info.id, self.info.name, self, lambda step: self._actions.move(self.info.id, step)
        )
        if not self.info.joined or members <= 1:
            self.handle.hide()
        title.addWidget(self.handle, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(theme.UNIT)
        words.addLayout(title)
        words.addWidget(Label(projects.by_line(self.info), Type.CAPTION, "muted", wrap=True))
        words.addWidget(Label(self.info.summary, wrap=True))
        warning = sentence(self.info.warning) if self.info.warning else ""
        for text in (projects.waits(self.info, time.time()), warning):
            if text:
                words.addWidget(Label(text, Type.CAPTION, "accent", wrap=True))
        words.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 4)
        row.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        return row

    def _facts(self) -> QVBoxLayout:
        """Peers, curve and needs beside each other, and under them the verdict."""
        self._peers, self._peers_caption = Label("–", Type.NAME), Label("", Type.CAPTION, "muted")
        self._sparkline, self._loss = Sparkline(), Label("", Type.CAPTION, "muted")
        self._needs = Label("", Type.CAPTION, wrap=True)
        self._verdict_dot, self._verdict = Dot(), Label("", Type.STRONG, "good", wrap=True)
        columns = QHBoxLayout()
        columns.setSpacing(theme.UNIT * 6)
        for name, value, width in (
            (self._peers_caption, self._peers, _PEERS_WIDTH),
            (self._loss, self._sparkline, 0),
            (Label(tr("Needs"), Type.CAPTION, "muted"), self._needs, 0),
        ):
            name.setMinimumWidth(width)
            column = QVBoxLayout()
            column.setSpacing(theme.UNIT // 2)
            column.addWidget(name)
            column.addWidget(value)
            column.addStretch(1)
            columns.addLayout(column, 1 if value is self._needs else 0)
        self._verdict_row = QWidget()
        verdict = QHBoxLayout(self._verdict_row)
        verdict.setContentsMargins(0, 0, 0, 0)
        verdict.setSpacing(theme.UNIT * 2)
        verdict.addWidget(self._verdict_dot)
        verdict.addWidget(self._verdict, 1)
        self._verdict_row.hide()
        self._given = Label("", Type.CAPTION, "muted", wrap=True)
        self._given.hide()
        facts = QVBoxLayout()
        facts.setSpacing(theme.UNIT * 3)
        facts.addLayout(columns)
        facts.addWidget(self._verdict_row)
        facts.addWidget(self._given)
        self.show_curve([])
        return facts

    def _buttons(self) -> QHBoxLayout:
        name, which = self.info.name, self.info.id
        self.details = Button(tr("Details"), "secondary", self._toggle)
        self.contribute = Button(tr("Contribute"), "primary", lambda: self._actions.contribute(which))
        self.member = (
            Button(tr("Leave"), "secondary", lambda: self._actions.leave(which))
            if self.info.joined
            else Button(tr("Join"), "secondary", lambda: self._actions.join(which, None))
        )
        if self.info.active:
            self.contribute.hide()
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        for button in (self.contribute, self.member, self.details):
            button.setAccessibleDescription(name)
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _toggle(self) -> None:
        if self.unfolded:
            self.fold()
        else:
            self._actions.show(self.info.id)

    def _join(self, invite: str | None) -> None:
        self._actions.join(self.info.id, invite)

"""One project in the list: what it is, how it goes, whether it fits, and what can be done with it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from app.projects.details import Details
from app.projects.learned import Learned
from app.projects.order_handle import OrderHandle
from app.projects.picture import ProjectPicture
from app.projects.sparkline import Sparkline
from app.text import projects
from app.text.i18n import tr
from app.text.messages import sentence
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Dot, Label, Notice
from app.widgets.theme import Type
from core.api.project.demonstration import Demonstration
from core.api.project.projects import CurvePoint, ProjectDetails, ProjectInfo
from core.api.snapshot import Snapshot

_PEERS_WIDTH = 130


@dataclass(frozen=True)
class Actions:
    """What a card asks of its page; each gets the project's id."""

    contribute: Callable[[str], None]
    join: Callable[[str, str | None], None]
    leave: Callable[[str], None]
    remove: Callable[[str], None]
    show: Callable[[str], None]
    move: Callable[[str, int], None]


class ProjectCard(Card):
    """A row of the list of projects. `members`: how many projects are joined."""

    def __init__(self, info: ProjectInfo, actions: Actions, members: int = 1) -> None:
        super().__init__(name=tr("Project {name}", name=info.name), spacing=theme.UNIT * 3)
        self.info = info
        self.fits: bool | None = None
        """None until the engine has answered."""
        self._actions, self._members = actions, members
        self._shown_badges: list[tuple[str, str]] = []
        self._curve: list[CurvePoint] = []
        self._details: Details | None = None
        self.problem = Notice("problem-frame")
        self.picture = ProjectPicture(info.id, info.name)
        self._learned = Learned()
        self.add(self._head(), self._facts(), self._learned, self.problem, self._buttons())

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
        source = tr("As the project's backbone counts what volunteers say they gave.")
        self._given.setToolTip(source if details.place else "")

    def show_curve(self, points: Sequence[CurvePoint]) -> None:
        """The learning curve, and the peers at its end."""
        self._curve = list(points)
        self._sparkline.show_points(points)
        self._loss.setText(projects.reached(self._curve))

    def show_demonstration(self, shown: Demonstration | None) -> None:
        """What the model can do by now."""
        self._learned.show_demonstration(shown)

    def show_snapshot(self, snapshot: Snapshot | None) -> None:
        """Who takes part now, and what this computer does about it."""
        badges = projects.badges(self.info, self._members, snapshot)
        if badges != self._shown_badges:
            self._shown_badges = badges
            layouts.clear(self._badges)
            layouts.add(self._badges, *(Label(text, Type.CAPTION, role) for text, role in badges))
        figure, caption = projects.peers(self.info, self._curve, snapshot, time.time())
        self._peers.setText(figure)
        self._peers_caption.setText(caption)

    def show_details(self, details: ProjectDetails) -> None:
        """Unfold."""
        self.fold()
        self.show_facts(details)
        self._details = Details(details, self._join, lambda: self._actions.remove(self.info.id))
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

    def _head(self) -> QHBoxLayout:
        top = Qt.AlignmentFlag.AlignTop
        name = Label(self.info.name, Type.NAME, wrap=True)
        self._badges = layouts.row(spacing=theme.UNIT * 2)
        self.handle = OrderHandle(
            self.info.id, self.info.name, self, lambda step: self._actions.move(self.info.id, step)
        )
        if not self.info.joined or self._members <= 1:
            self.handle.hide()
        title = layouts.row((name, 1), layouts.column(self._badges, None), (self.handle, top), spacing=theme.UNIT * 2)
        by_line = Label(projects.by_line(self.info), Type.CAPTION, "muted", wrap=True)
        warning = sentence(self.info.warning) if self.info.warning else ""
        remarks = filter(None, (projects.waits(self.info, time.time()), warning))
        shown = (Label(text, Type.CAPTION, "accent", wrap=True) for text in remarks)
        words = layouts.column(title, by_line, Label(self.info.summary, wrap=True), *shown, None, spacing=theme.UNIT)
        return layouts.row((self.picture, top), (words, 1), spacing=theme.UNIT * 4)

    def _facts(self) -> QVBoxLayout:
        """Peers, curve and needs beside each other, and under them the verdict."""
        self._peers, self._peers_caption = Label("–", Type.NAME), Label("", Type.CAPTION, "muted")
        self._sparkline, self._loss = Sparkline(), Label("", Type.CAPTION, "muted")
        self._needs = Label("", Type.CAPTION, wrap=True)
        self._verdict_dot, self._verdict = Dot(), Label("", Type.STRONG, "good", wrap=True)
        self._peers_caption.setMinimumWidth(_PEERS_WIDTH)
        peers, curve, needs = (
            layouts.column(name, value, None, spacing=theme.UNIT // 2)
            for name, value in (
                (self._peers_caption, self._peers),
                (self._loss, self._sparkline),
                (Label(tr("Needs"), Type.CAPTION, "muted"), self._needs),
            )
        )
        columns = layouts.row(peers, curve, (needs, 1), spacing=theme.UNIT * 6)
        self._verdict_row = QWidget()
        layouts.row(self._verdict_dot, (self._verdict, 1), spacing=theme.UNIT * 2, of=self._verdict_row)
        self._verdict_row.hide()
        self._given = Label("", Type.CAPTION, "muted", wrap=True)
        self._given.hide()
        self.show_curve([])
        return layouts.column(columns, self._verdict_row, self._given, spacing=theme.UNIT * 3)

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
        buttons = self.contribute, self.member, self.details
        for button in buttons:
            button.setAccessibleDescription(name)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(lambda at: self.menu().popup(self.mapToGlobal(at)))
        return layouts.row(*buttons, None, spacing=theme.UNIT * 2)

    def menu(self) -> QMenu:
        """What a right click offers: the card's buttons, and its address."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in (self.contribute, self.member, self.details):
            if not button.isHidden():
                menu.addAction(button.text(), button.click)
        if not self.info.practice:
            menu.addSeparator()
            menu.addAction(tr("Copy the address"), lambda: QGuiApplication.clipboard().setText(self.info.source))
            if not self.info.joined:
                menu.addAction(tr("Remove from the list"), lambda: self._actions.remove(self.info.id))
        return menu

    def _toggle(self) -> None:
        if self.unfolded:
            self.fold()
        else:
            self._actions.show(self.info.id)

    def _join(self, invite: str | None) -> None:
        self._actions.join(self.info.id, invite)

"""The projects page: the list in the order of preference, what can be done with each, and adding one."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from app.link.engine_link import EngineLink, Link
from app.projects.add_project import AddProject as AddPanel
from app.projects.add_project import dropped_source
from app.projects.card import Actions, ProjectCard
from app.projects.filter import ProjectFilter
from app.projects.order_handle import dragged_project
from app.text import projects as projects_text
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Label, Notice, clear
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.intent import Contribute
from core.api.project.projects import (
    AddProject,
    CurvePoint,
    GetCurve,
    GetPicture,
    JoinProject,
    LeaveProject,
    ListProjects,
    OrderProjects,
    Picture,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from core.api.protocol import Command, Event
from core.api.snapshot import Snapshot


class ProjectsPage(Page):
    """Asks for the list when it is shown and after everything that changes it."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self._cards: dict[str, ProjectCard] = {}
        self._running: tuple[str | None, bool] | None = None
        self._actions = Actions(self._contribute, self._join, self._leave, self._show, self._move_by)
        self._pictures: dict[str, Picture | None] = {}
        self._build()
        self.setAcceptDrops(True)
        link.snapshot_changed.connect(self._on_snapshot)
        link.event_came.connect(self._on_event)
        link.link_changed.connect(self._on_link)

    def refresh(self) -> None:
        """Fetch the list anew, if anyone looks."""
        if self.isVisible() and self._link.state is Link.UP:
            self._link.ask(ListProjects(), self.show_projects, self._problem.set_text, kind=list[ProjectInfo])

    def show_projects(self, projects: list[ProjectInfo]) -> None:
        """The whole list; cards whose project is unchanged stay as they are, unfolded or not."""
        self._problem.set_text("")
        if projects == [card.info for card in self._cards.values()]:
            return
        unfolded = [which for which, card in self._cards.items() if card.unfolded]
        focused = self.window().focusWidget()
        held = next((which for which, card in self._cards.items() if card.handle is focused), None)
        clear(self._list)
        members = sum(info.joined for info in projects)
        self._cards = {info.id: ProjectCard(info, self._actions, members) for info in projects}
        for card in self._cards.values():
            self._list.addWidget(card)
        self._fetch_facts()
        self._find()
        if held in self._cards:
            # A widget takes the focus once it is shown, which its layout sees to after this.
            QTimer.singleShot(0, self._cards[held].handle.setFocus)
        for which in unfolded:
            if which in self._cards:
                self._show(which)

    def card(self, project: str) -> ProjectCard | None:
        return self._cards.get(project)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dragged_project(event.mimeData()):
            event.acceptProposedAction()
        elif dropped_source(event.mimeData()):
            event.acceptProposedAction()
            self.add_panel.show()
            theme.set_role(self.add_panel, "card-drop")

    def dragLeaveEvent(self, _event: object) -> None:
        theme.set_role(self.add_panel, "card")

    def dropEvent(self, event: QDropEvent) -> None:
        theme.set_role(self.add_panel, "card")
        if which := dragged_project(event.mimeData()):
            event.acceptProposedAction()
            self._move_to(which, self._place_at(event.position().toPoint()))
        elif source := dropped_source(event.mimeData()):
            event.acceptProposedAction()
            self.add(source)

    def add(self, source: str) -> None:
        """Have the engine read a manifest from a URL or file."""
        self.add_panel.show()
        self.add_panel.show_busy(source)
        self._link.ask(AddProject(source), self._on_added, self.add_panel.show_problem, kind=ProjectInfo)

    def _build(self) -> None:
        self.add_panel = AddPanel(self.add)
        self.add_panel.hide()
        self._problem = Notice("problem-frame")
        self._empty = Label(role="muted", wrap=True)
        self._empty.hide()
        self._list = QVBoxLayout()
        self._list.setSpacing(theme.GAP)
        column = self.column
        column.addLayout(self._head())
        self.filter = ProjectFilter(self._find)
        for widget in (self.filter, self._problem, self.add_panel, self._empty):
            column.addWidget(widget)
        column.addLayout(self._list)
        column.addStretch(1)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(Label(tr("Projects"), Type.HEADLINE), 1)
        self.add_button = Button(tr("Add project…"), "secondary", self._toggle_add)
        row.addWidget(self.add_button)
        return row

    def _toggle_add(self) -> None:
        self.add_panel.setVisible(not self.add_panel.isVisible())
        if self.add_panel.isVisible():
            self.add_panel.field.setFocus()

    def _find(self) -> None:
        """Show what the search and the filter let through."""
        which, text = self.filter.which, self.filter.text
        for card in self._cards.values():
            card.setVisible(projects_text.is_found(card.info, card.fits, which, text))
        self._empty.setText(
            tr("No project matches this search.")
            if self._cards
            else tr("No projects yet. Add one with the address that its organiser gave you.")
        )
        self._empty.setVisible(all(card.isHidden() for card in self._cards.values()))

    def _fetch_facts(self) -> None:
        """What the list itself does not tell; the cards are filled as the answers come."""
        for which, card in self._cards.items():
            card.show_snapshot(self._link.snapshot)
            self._ask_for(card, ShowProject(which), ProjectCard.show_facts, ProjectDetails)
            self._ask_for(card, GetCurve(which), ProjectCard.show_curve, list[CurvePoint])
            if which in self._pictures:
                card.picture.show_picture(self._pictures[which])
            else:
                self._ask_for(card, GetPicture(which), self._take_picture, Picture | None)

    def _ask_for(
        self, card: ProjectCard, command: Command, show: Callable[[ProjectCard, Any], None], kind: Any
    ) -> None:
        def done(value: Any) -> None:
            if self._cards.get(card.info.id) is card:  # an answer that was overtaken belongs to a card that is gone
                show(card, value)
                card.show_snapshot(self._link.snapshot)
                self._find()

        self._link.ask(command, done, kind=kind)

    def _take_picture(self, card: ProjectCard, picture: Picture | None) -> None:
        self._pictures[card.info.id] = picture
        card.picture.show_picture(picture)

    def _order(self) -> list[str]:
        members = [card.info for card in self._cards.values() if card.info.rank]
        return [info.id for info in sorted(members, key=lambda info: info.rank)]

    def _move_by(self, which: str, step: int) -> None:
        self._move_to(which, self._order().index(which) + step)

    def _move_to(self, which: str, place: int) -> None:
        before = self._order()
        after = projects_text.moved(before, which, place)
        if list(after) != before and which in before:
            self._link.ask(OrderProjects(after), self.show_projects, self._problem.set_text, kind=list[ProjectInfo])

    def _place_at(self, point: QPoint) -> int:
        """Among the joined projects, where a drop at this point of the page belongs."""
        middles = (self._cards[which].mapTo(self, self._cards[which].rect().center()).y() for which in self._order())
        return sum(middle < point.y() for middle in middles)

    def _on_added(self, info: ProjectInfo) -> None:
        self.add_panel.reset()
        self.refresh()
        self._show(info.id)

    def _contribute(self, which: str) -> None:
        self._change(which, Contribute(which))

    def _join(self, which: str, invite: str | None) -> None:
        self._change(which, JoinProject(which, invite))

    def _leave(self, which: str) -> None:
        self._change(which, LeaveProject(which))

    def _change(self, which: str, command: Command) -> None:
        self._link.ask(command, lambda _: self.refresh(), lambda sentence: self._on_refused(which, sentence))

    def _on_refused(self, which: str, sentence: str) -> None:
        card = self._cards.get(which)
        (card.problem if card else self._problem).set_text(sentence)

    def _show(self, which: str) -> None:
        self._link.ask(
            ShowProject(which),
            self._on_details,
            lambda sentence: self._on_refused(which, sentence),
            kind=ProjectDetails,
        )

    def _on_details(self, details: ProjectDetails) -> None:
        if card := self._cards.get(details.info.id):
            card.show_details(details)

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        running = (snapshot.project, snapshot.session is not None)
        if running != self._running:
            self._running = running
            self.refresh()
        if self.isVisible() and snapshot.project in self._cards:
            self._cards[snapshot.project].show_snapshot(snapshot)

    def _on_event(self, event: Event) -> None:
        if event.kind in {"joined", "left"}:
            self.refresh()

    def _on_link(self, state: Link, _sentence: str) -> None:
        for card in self._cards.values():
            card.setEnabled(state is Link.UP)
        self.add_button.setEnabled(state is Link.UP)
        self.refresh()

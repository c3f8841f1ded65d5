"""The projects page: the list in the order of preference, what can be done with each, and adding one."""

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMessageBox

from app.link.engine_link import EngineLink
from app.link.live_page import LivePage
from app.projects.add_project import AddProject as AddPanel
from app.projects.add_project import dropped_source
from app.projects.card import Actions, ProjectCard
from app.projects.filter import ProjectFilter
from app.projects.order_handle import dragged_project
from app.text import projects as projects_text
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Label, Notice
from app.widgets.dialog import MessageDialog
from app.widgets.theme import Type
from core.api.intent import Contribute
from core.api.project import projects as api
from core.api.project.demonstration import Demonstration, GetDemonstration
from core.api.protocol import Command, Event
from core.api.snapshot import Snapshot

_FACTS_MS = 1000
"""Reports come twice a second; what they change on a card is fetched once."""

_KEPT = "handle", "contribute", "member", "details"
"""Parts of a card that have the focus again after the list is made again."""


class ProjectsPage(LivePage):
    """Also fetches the list after everything that changes it."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(link)
        self._cards: dict[str, ProjectCard] = {}
        self._running: tuple[str | None, bool] | None = None
        self._facts = QTimer(self, singleShot=True, interval=_FACTS_MS)
        """Runs from the first report to the next request for what the running project was given."""
        self._facts.timeout.connect(self._fetch_running)
        self._epoch: int | None = None
        self._actions = Actions(
            contribute=lambda which: self._change(which, Contribute(which)),
            join=lambda which, invite: self._change(which, api.JoinProject(which, invite)),
            leave=self._ask_to_leave,
            remove=self._remove,
            show=self._show,
            move=lambda which, step: self._move_to(which, self._order().index(which) + step),
        )
        self._added = ""
        """The project that the volunteer added just now, and has not seen yet."""
        self._pictures: dict[str, api.Picture | None] = {}
        self._build()
        self.setAcceptDrops(True)
        link.snapshot_changed.connect(self._on_snapshot)
        link.event_came.connect(self._on_event)
        self.follow_link()

    def fetch(self) -> None:
        self.ask(api.ListProjects(), self.show_projects, list[api.ProjectInfo])

    def enable(self, up: bool) -> None:
        for widget in (*self._cards.values(), self.add_button):
            widget.setEnabled(up)

    def show_projects(self, projects: list[api.ProjectInfo]) -> None:
        """The whole list; cards whose project is unchanged stay as they are, unfolded or not."""
        self.problem.set_text("")
        if projects == [card.info for card in self._cards.values()]:
            return
        unfolded = [which for which, card in self._cards.items() if card.unfolded]
        focused = self.window().focusWidget()
        held = (
            (which, name) for which, card in self._cards.items() for name in _KEPT if getattr(card, name) is focused
        )
        which, name = next(held, ("", ""))
        layouts.clear(self._list)
        members = sum(info.joined for info in projects)
        self._cards = {info.id: ProjectCard(info, self._actions, members) for info in projects}
        layouts.add(self._list, *self._cards.values())
        self._fetch_facts()
        self._apply_filter()
        if which in self._cards:
            # A widget takes the focus once it is shown, which its layout sees to after this.
            QTimer.singleShot(0, getattr(self._cards[which], name).setFocus)
        for each in unfolded:
            if each in self._cards:
                self._show(each)

    def card(self, project: str) -> ProjectCard | None:
        return self._cards.get(project)

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

    def offer(self, source: str) -> None:
        """Fill in what could be added; nothing is read before the volunteer agrees."""
        self.add_panel.show()
        self.add_panel.field.setText(source)
        self.add_panel.submit.setFocus()

    def add(self, source: str) -> None:
        """Have the engine read a manifest from a URL or file."""
        self.add_panel.show()
        self.add_panel.show_busy(source)
        self.link.ask(api.AddProject(source), self._on_added, self.add_panel.show_problem, kind=api.ProjectInfo)

    def _build(self) -> None:
        self.add_panel = AddPanel(self.add, takes_files=self.link.machine is None)
        self.add_panel.hide()
        self._empty = Label(role="muted", wrap=True)
        self._empty.hide()
        self._list = layouts.column(spacing=theme.GAP)
        self.add_button = Button(tr("Add project…"), "secondary", self._toggle_add)
        head = layouts.row((Label(tr("Projects"), Type.HEADLINE), 1), self.add_button)
        self.filter = ProjectFilter(self._apply_filter)
        self.removed = Notice("notice-frame", tr("Undo"), self._add_again)
        self._removed = ""
        """The source of the project that was removed last."""
        self.fill(head, self.filter, self.problem, self.removed, self.add_panel, self._empty, self._list, None)

    def _toggle_add(self) -> None:
        self.add_panel.setVisible(not self.add_panel.isVisible())
        if self.add_panel.isVisible():
            self.add_panel.field.setFocus()

    def _apply_filter(self) -> None:
        """Show what the search and the filter let through."""
        which, text = self.filter.which, self.filter.search.text()
        for card in self._cards.values():
            card.setVisible(projects_text.is_found(card.info, card.fits, which, text))
        self._empty.setText(
            tr("No project matches this search.")
            if self._cards
            else tr("No projects yet. Add one with the address that its organiser gave you.")
        )
        self._empty.setVisible(all(card.isHidden() for card in self._cards.values()))

    def _fetch_facts(self) -> None:
        """Fetch what is not in the list itself; the cards are filled as the answers come."""
        for which, card in self._cards.items():
            card.show_snapshot(self.link.snapshot)
            self._ask_for(card, api.ShowProject(which), ProjectCard.show_facts, api.ProjectDetails)
            self._ask_for_progress(card)
            if which in self._pictures:
                card.picture.show_picture(self._pictures[which])
            else:
                self._ask_for(card, api.GetPicture(which), self._store_picture, api.Picture | None)

    def _ask_for_progress(self, card: ProjectCard) -> None:
        """What the run has reached, and what its model can do."""
        which = card.info.id
        self._ask_for(card, api.GetCurve(which), ProjectCard.show_curve, list[api.CurvePoint])
        self._ask_for(card, GetDemonstration(which), ProjectCard.show_demonstration, Demonstration | None)

    def _ask_for(
        self, card: ProjectCard, command: Command, show: Callable[[ProjectCard, Any], None], kind: Any
    ) -> None:
        def done(value: Any) -> None:
            if self._cards.get(card.info.id) is card:  # an answer that was overtaken belongs to a card that is gone
                show(card, value)
                card.show_snapshot(self.link.snapshot)
                self._apply_filter()

        self.link.ask(command, done, kind=kind)

    def _store_picture(self, card: ProjectCard, picture: api.Picture | None) -> None:
        self._pictures[card.info.id] = picture
        card.picture.show_picture(picture)

    def _order(self) -> list[str]:
        members = [card.info for card in self._cards.values() if card.info.rank]
        return [info.id for info in sorted(members, key=lambda info: info.rank)]

    def _move_to(self, which: str, place: int) -> None:
        before = self._order()
        after = projects_text.moved(before, which, place)
        if list(after) != before and which in before:
            self.ask(api.OrderProjects(after), self.show_projects, list[api.ProjectInfo])

    def _place_at(self, point: QPoint) -> int:
        """Among the joined projects, where a drop at this point of the page belongs."""
        middles = (self._cards[which].mapTo(self, self._cards[which].rect().center()).y() for which in self._order())
        return sum(middle < point.y() for middle in middles)

    def _on_added(self, info: api.ProjectInfo) -> None:
        self.add_panel.reset()
        self.filter.show_all()
        self.ask(api.ListProjects(), partial(self._show_added, info.id), list[api.ProjectInfo])

    def _show_added(self, which: str, projects: list[api.ProjectInfo]) -> None:
        """Asks for it last: the answers before make the cards above it higher."""
        self.show_projects(projects)
        self._added = which
        self._show(which)

    def _remove(self, which: str) -> None:
        info = self._cards[which].info

        def done(_: object) -> None:
            self._removed = info.source
            self.removed.set_text(tr("{name} is no longer in the list.", name=info.name))
            self.refresh()

        self.link.ask(api.RemoveProject(which), done, lambda sentence: self._on_refused(which, sentence))

    def _add_again(self) -> None:
        self.removed.set_text("")
        self.add(self._removed)

    def _ask_to_leave(self, which: str) -> None:
        box = MessageDialog(
            self,
            tr("Leave a project"),
            tr("Leave {name}?", name=self._cards[which].info.name),
            tr("This computer stops contributing to it. What you gave stays in your history; an invite is deleted."),
        )
        leave = box.offer(tr("Leave"), QMessageBox.ButtonRole.DestructiveRole, "primary")
        box.setEscapeButton(box.offer(tr("Cancel"), QMessageBox.ButtonRole.RejectRole))
        leave.clicked.connect(lambda: self._change(which, api.LeaveProject(which)))
        box.open()

    def _change(self, which: str, command: Command) -> None:
        self.link.ask(command, lambda _: self.refresh(), lambda sentence: self._on_refused(which, sentence))

    def _on_refused(self, which: str, sentence: str) -> None:
        card = self._cards.get(which)
        (card.problem if card else self.problem).set_text(sentence)

    def _show(self, which: str) -> None:
        self.link.ask(
            api.ShowProject(which),
            self._on_details,
            lambda sentence: self._on_refused(which, sentence),
            kind=api.ProjectDetails,
        )

    def _on_details(self, details: api.ProjectDetails) -> None:
        if card := self._cards.get(details.info.id):
            card.show_details(details)
            if details.info.id == self._added:
                self._added = ""
                # Once its layout has placed it.
                QTimer.singleShot(0, card, lambda: self._lead_to(card))

    def _lead_to(self, card: ProjectCard) -> None:
        """With the keyboard too; on a button that changes nothing."""
        card.details.setFocus(Qt.FocusReason.OtherFocusReason)
        self.verticalScrollBar().setValue(card.y() - theme.GAP)

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        running = (snapshot.project, snapshot.session is not None)
        if running != self._running:
            self._running = running
            self.refresh()
        if self.isVisible() and snapshot.project in self._cards:
            self._cards[snapshot.project].show_snapshot(snapshot)
            if snapshot.session is not None and not self._facts.isActive():
                self._facts.start()

    def _fetch_running(self) -> None:
        """What grows while a project runs: what was given to it, and its curve with each epoch."""
        snapshot = self.link.snapshot
        if snapshot is None or not self.isVisible() or not (card := self._cards.get(snapshot.project or "")):
            return
        self._ask_for(card, api.ShowProject(card.info.id), ProjectCard.show_facts, api.ProjectDetails)
        if snapshot.progress.epoch != self._epoch:
            self._epoch = snapshot.progress.epoch
            self._ask_for_progress(card)

    def _on_event(self, event: Event) -> None:
        if event.kind in {"joined", "left"}:
            self.refresh()

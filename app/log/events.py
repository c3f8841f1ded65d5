"""The events in sentences: of one project or of all, to read and to copy."""

import time

from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.link.engine_link import EngineLink, Link
from app.text import events
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Notice
from app.widgets.controls.combo import Combo
from app.widgets.theme import Type
from core.api.protocol import Event
from core.api.record.events import GetEvents, PastEvent
from core.api.snapshot import Snapshot


class EventsView(QWidget):
    """Fetched when it is shown and when something has happened."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link, self._events, self._state = link, list[PastEvent](), ""
        self.project = Combo({"": tr("All projects")})
        self.project.setAccessibleName(tr("Which project"))
        self.project.currentIndexChanged.connect(lambda _: self._show())
        self.copy = Button(tr("Copy"), "secondary", self._copy)
        self.copy.setToolTip(tr("Copy what is selected, else every line shown"))
        self.problem = Notice("problem-frame")
        self.view = QPlainTextEdit()
        self.view.setReadOnly(True)
        self.view.setAccessibleName(tr("Events"))
        self.view.setFont(theme.font(Type.TEXT))
        self.view.setTabChangesFocus(True)
        row = layouts.row(self.project, None, self.copy, spacing=theme.UNIT * 2)
        layouts.column(row, self.problem, (self.view, 1), spacing=theme.GAP, of=self)
        link.event_came.connect(self._on_event)
        link.snapshot_changed.connect(self._on_snapshot)
        link.link_changed.connect(lambda *_: self.refresh())

    @property
    def shown(self) -> str:
        return self.view.toPlainText()

    def refresh(self) -> None:
        if self.isVisible() and self._link.state is Link.UP:
            self._link.ask(GetEvents(), self.show_events, self.problem.set_text, kind=list[PastEvent])

    def show_events(self, found: list[PastEvent]) -> None:
        self.problem.set_text("")
        self._events = found
        known = {self.project.itemData(number) for number in range(self.project.count())}
        for event in found:
            if event.project and event.project not in known:
                known.add(event.project)
                self.project.addItem(event.name, event.project)
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def _show(self) -> None:
        wanted = self.project.currentData()
        shown = [event for event in self._events if not wanted or event.project == wanted]
        text = "\n".join(events.lines(shown, time.time())) or tr("Nothing has happened yet.")
        if text == self.shown:
            return
        bar = self.view.verticalScrollBar()
        is_read, below = bar.value() > 0, bar.maximum() - bar.value()
        self.view.setPlainText(text)
        if is_read:  # new lines come at the top, and must not move those that are read
            bar.setValue(bar.maximum() - below)

    def _copy(self) -> None:
        selected = self.view.textCursor().selection().toPlainText()
        QGuiApplication.clipboard().setText(selected or self.shown)

    def _on_event(self, event: Event) -> None:
        if event.kind != "epoch_done":
            self.refresh()

    def _on_snapshot(self, snapshot: Snapshot) -> None:
        """A change of the state is an event too."""
        before, self._state = self._state, f"{snapshot.state} {[reason.kind for reason in snapshot.reasons]}"
        if before != self._state:
            self.refresh()

"""The history page: what this computer gave, when and to which project.

Everything is summed up by the engine and asked for piece by piece; an answer that comes after another range was chosen
is dropped.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.history import time_range
from app.history.cards import CalendarCard, HabitCards, MilestonesCard, ProjectsCard
from app.history.charts.curve import HistoryCurve
from app.history.figures import HistoryFigures
from app.history.files import HistoryFiles
from app.history.sessions import HistorySessions
from app.history.time_range import TimeRange
from app.link.engine_link import EngineLink, Link
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.record.record import Habits, Overview, SessionGiven

_REFRESH_SECONDS = 30.0
"""Seconds between two updates while the page is open and the session contributes."""


class HistoryPage(Page):
    """Requests its figures when it is shown, when the range changes, and at intervals while it is open."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self._range = TimeRange("year")
        self._year: int | None = None
        self._asked = 0
        self._asked_at = 0.0
        self.overview: Overview | None = None
        self._build()
        link.snapshot_changed.connect(lambda _: self._refresh_now_and_then())
        link.link_changed.connect(lambda *_: self.refresh())

    def refresh(self) -> None:
        """Request everything, if the page is visible."""
        if not self.isVisible() or self._link.state is not Link.UP:
            return
        self._asked += 1
        self._asked_at = now = time.time()
        self._ask(self._range.overview(now, self._year), self.show_overview, Overview)
        self._ask(self._range.habits(now), self.show_habits, Habits)
        self._ask_sessions()

    def choose(self, wanted: TimeRange) -> None:
        """Show another period."""
        self._range = wanted
        for kind, button in self.ranges.items():
            button.setChecked(kind == wanted.kind)
        self._back.setVisible(wanted.kind == "own")
        self.sessions.forget_filters()
        self.refresh()

    def show_overview(self, overview: Overview) -> None:
        self._problem.set_text("")
        self.overview = overview
        self._empty.setVisible(overview.first is None)
        self._full.setVisible(overview.first is not None)
        self._title.setText(self._range.title())
        self.figures.show_overview(overview, self._range)
        for card in (self.days, self.projects, self.curve, self.sessions, self.milestones):
            card.show_overview(overview)

    def show_habits(self, habits: Habits) -> None:
        self.habits.show_habits(habits)
        self.sessions.show_habits(habits)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def arrange(self, roomy: bool) -> None:
        self.figures.arrange(4 if roomy else 2)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self._problem = Notice("problem-frame")
        self.files = HistoryFiles(self, self._link, self.refresh, self._problem.set_text)
        self._empty = Card(tr("No history yet"))
        text = tr(
            "Once this computer contributes, this page shows every hour of it. The record stays on this computer."
        )
        self._empty.column.addWidget(Label(text, wrap=True))
        self._empty.hide()
        self._full = self._cards()
        self._full.hide()
        self.column.addLayout(self._head())
        for widget in (self._problem, self.files.notice, self._empty, self._full):
            self.column.addWidget(widget)
        self.column.addStretch(1)

    def _cards(self) -> QWidget:
        self.figures = HistoryFigures()
        self.days = CalendarCard(lambda day: self.choose(time_range.one_day(day)), self._turn_year)
        self.projects = ProjectsCard(lambda since, until: self.choose(TimeRange("own", since, until)))
        self.habits = HabitCards()
        self.curve = HistoryCurve(self._link)
        self.sessions = HistorySessions(self._ask_sessions)
        self.milestones = MilestonesCard()
        cards = QWidget()
        column = QVBoxLayout(cards)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.GAP)
        column.addLayout(self.figures)
        column.addWidget(self.days)
        column.addWidget(self.projects)
        column.addLayout(self.habits)
        for card in (self.curve, self.sessions, self.milestones):
            column.addWidget(card)
        return cards

    def _head(self) -> QHBoxLayout:
        self._title = Label("", Type.TEXT, "muted")
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(Label(tr("History"), Type.HEADLINE))
        names.addWidget(self._title)
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        row.addLayout(names, 1)
        self._back = Button(tr("Back"), "link", lambda: self.choose(TimeRange("year")))
        self._back.hide()
        row.addWidget(self._back)
        self.ranges: dict[time_range.Kind, Button] = {}
        offered: tuple[tuple[time_range.Kind, str], ...] = (
            ("month", tr("30 days")),
            ("year", tr("Year")),
            ("all", tr("All")),
        )
        for kind, name in offered:
            button = Button(name, "preset", partial(self.choose, TimeRange(kind)))
            button.setCheckable(True)
            button.setChecked(kind == self._range.kind)
            self.ranges[kind] = button
            row.addWidget(button)
        row.addWidget(self.files.button)
        return row

    # -- asking --------------------------------------------------------------------------------------------------

    def _ask(self, command: Any, done: Callable[[Any], None], kind: Any) -> None:
        number = self._asked

        def answer(result: Any) -> None:
            if number == self._asked:
                done(result)

        self._link.ask(command, answer, self._problem.set_text, kind=kind)

    def _ask_sessions(self, before: float | None = None) -> None:
        command = self._range.sessions(time.time(), before, self.sessions.project, self.sessions.ending)
        self._ask(command, lambda found: self.sessions.show_sessions(found, before), list[SessionGiven])

    def _turn_year(self, years: int) -> None:
        if self.overview:
            self._year = self.overview.year + years
            self._ask(self._range.overview(time.time(), self._year), self.show_overview, Overview)

    def _refresh_now_and_then(self) -> None:
        if self.isVisible() and abs(time.time() - self._asked_at) > _REFRESH_SECONDS:
            self.refresh()

"""The history page: what this computer gave, when and to which project.

The engine does all sums. The page asks for one part after the other, and drops an answer if another range was chosen
meanwhile.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.history import time_range
from app.history.cards import CalendarCard, HabitCards, MilestonesCard, ProjectsCard
from app.history.charts.curve import HistoryCurve
from app.history.figures import HistoryFigures
from app.history.files import HistoryFiles
from app.history.sessions import HistorySessions
from app.history.time_range import TimeRange
from app.link.engine_link import EngineLink
from app.link.live_page import LivePage
from app.text.formats import times
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, ToggleButton
from app.widgets.theme import Type
from core.api.record.record import GetHabits, GetOverview, GetSessions, Habits, Overview, SessionGiven

_REFRESH_SECONDS = 30.0
"""Seconds between two updates while the page is open and the session contributes."""


class HistoryPage(LivePage):
    """Also fetches when the range changes, and at intervals while it is visible."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__(link)
        self._range = TimeRange("year")
        self._year: int | None = None
        self._asked = 0
        self._asked_at = 0.0
        self.overview: Overview | None = None
        self._build()
        link.snapshot_changed.connect(lambda _: self._refresh_now_and_then())
        self.follow_link()

    def fetch(self) -> None:
        self._asked += 1
        self._asked_at = now = time.time()
        self._ask_overview()
        self._ask_once(GetHabits(*self._range.bounds(now)), self.show_habits, Habits)
        self._ask_sessions()

    def choose(self, wanted: TimeRange) -> None:
        """Show another period."""
        self._range = wanted
        for kind, button in self.ranges.items():
            button.setChecked(kind == wanted.kind)
        self._back.setVisible(wanted.kind == "own")
        self.sessions.project = self.sessions.ending = None
        self.refresh()

    def show_overview(self, overview: Overview) -> None:
        self.problem.set_text("")
        self.overview = overview
        self._empty.setVisible(overview.first is None)
        self._full.setVisible(overview.first is not None)
        now = time.time()
        self._title.setText(tr("{period}, as of {time}", period=self._range.title(), time=times.clock(now, now)))
        self.figures.show_overview(overview, self._range)
        for card in (self.days, self.projects, self.curve, self.sessions, self.milestones):
            card.show_overview(overview)

    def show_habits(self, habits: Habits) -> None:
        self.habits.show_habits(habits)
        self.sessions.show_habits(habits)

    def arrange(self, roomy: bool) -> None:
        self.figures.arrange(4 if roomy else 2)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.files = HistoryFiles(self, self.link, self.refresh, self.problem.set_text)
        text = tr(
            "Once this computer contributes, this page shows every hour of it. The record stays on this computer."
        )
        self._empty = Card(tr("No history yet"), Label(text, wrap=True))
        self._empty.hide()
        self._full = self._cards()
        self._full.hide()
        self.fill(self._head(), self.problem, self.files.notice, self._empty, self._full, None)

    def _cards(self) -> QWidget:
        self.figures = HistoryFigures()
        self.days = CalendarCard(lambda day: self.choose(time_range.one_day(day)), self._turn_year)
        self.projects = ProjectsCard(lambda since, until: self.choose(TimeRange("own", since, until)))
        self.habits = HabitCards()
        self.curve = HistoryCurve(self.link)
        self.sessions = HistorySessions(self._ask_sessions)
        self.milestones = MilestonesCard()
        cards = QWidget()
        first = self.figures, self.days, self.projects, self.habits
        layouts.column(*first, self.curve, self.sessions, self.milestones, spacing=theme.GAP, of=cards)
        return cards

    def _head(self) -> QHBoxLayout:
        self._title = Label("", Type.TEXT, "muted")
        names = layouts.column(Label(tr("History"), Type.HEADLINE), self._title, spacing=0)
        self._back = Button(tr("Back"), "link", lambda: self.choose(TimeRange("year")))
        self._back.hide()
        offered: dict[time_range.Kind, str] = {"month": tr("30 days"), "year": tr("Year"), "all": tr("All")}
        self.ranges = {
            kind: ToggleButton(name, partial(self.choose, TimeRange(kind)), checked=kind == self._range.kind)
            for kind, name in offered.items()
        }
        buttons = *self.ranges.values(), self.files.button
        return layouts.row((names, 1), self._back, *buttons, spacing=theme.UNIT * 2)

    # -- asking --------------------------------------------------------------------------------------------------

    def _ask_once(self, command: Any, done: Callable[[Any], None], kind: Any) -> None:
        """Drops the answer if everything was asked for again meanwhile."""
        number = self._asked

        def answer(result: Any) -> None:
            if number == self._asked:
                done(result)

        self.ask(command, answer, kind)

    def _ask_overview(self) -> None:
        self._ask_once(GetOverview(*self._range.bounds(time.time()), self._year), self.show_overview, Overview)

    def _ask_sessions(self, before: float | None = None) -> None:
        bounds = self._range.bounds(time.time())
        command = GetSessions(*bounds, before, self.sessions.project, self.sessions.ending)
        self._ask_once(command, lambda found: self.sessions.show_sessions(found, before), list[SessionGiven])

    def _turn_year(self, years: int) -> None:
        if self.overview:
            self._year = self.overview.year + years
            self._ask_overview()

    def _refresh_now_and_then(self) -> None:
        if self.isVisible() and abs(time.time() - self._asked_at) > _REFRESH_SECONDS:
            self.refresh()

"""The history page: what was given, when, to whom, and what became of it.

Everything is summed up by the engine and asked for piece by piece; an answer that comes after another range was chosen
is dropped.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QLocale, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app import format as fmt
from app import history_range, history_words, theme
from app.bars_view import BarsView, ProjectSwatch
from app.calendar_view import CalendarView
from app.curve_view import CurveView
from app.engine_link import EngineLink, Link
from app.gave_strip import GaveStrip
from app.habits_view import ReasonsView, WeekHoursView
from app.history_files import HistoryFiles
from app.history_range import Range
from app.menu_button import MenuButton
from app.sessions_table import SessionsTable
from app.texts import tr, trn
from app.theme import Type
from app.tiles import Tile
from app.widgets import Button, Card, Label, Notice, clear
from core.api.projects import CurvePoint, GetCurve
from core.api.record import COLOURED, Habits, Overview, SessionGiven

_ROOMY_WIDTH = 720
_REFRESH_SECONDS = 30.0
"""While it is open and something is being given."""


class HistoryPage(QScrollArea):
    """Asks when it is shown, when another range is chosen, and now and then while it is open."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self._range = Range("year")
        self._year: int | None = None
        self._asked = 0
        self._asked_at = 0.0
        self.overview: Overview | None = None
        self._project: str | None = None
        self._ending: str | None = None
        self._curve_of: str | None = None
        self._build()
        link.snapshot_changed.connect(lambda _: self._refresh_now_and_then())
        link.link_changed.connect(lambda *_: self.refresh())

    def refresh(self) -> None:
        """Ask for everything, if anyone looks."""
        if not self.isVisible() or self._link.state is not Link.UP:
            return
        self._asked += 1
        self._asked_at = now = time.time()
        self._ask(self._range.overview(now, self._year), self.show_overview, Overview)
        self._ask(self._range.habits(now), self.show_habits, Habits)
        self._ask_sessions()

    def choose(self, wanted: Range) -> None:
        """Show another time."""
        self._range = wanted
        for kind, button in self.ranges.items():
            button.setChecked(kind == wanted.kind)
        self._back.setVisible(wanted.kind == "own")
        self._project = self._ending = None
        self.refresh()

    def show_overview(self, overview: Overview) -> None:
        self._problem.say("")
        self.overview = overview
        self._empty.setVisible(overview.first is None)
        self._full.setVisible(overview.first is not None)
        self._title.setText(self._range.title())
        self._show_tiles(overview)
        self.calendar.show_year(overview.year, overview.calendar)
        self._year_label.setText(str(overview.year))
        years = overview.years or (overview.year,)
        self._earlier.setEnabled(overview.year > min(years))
        self._later.setEnabled(overview.year < max(years))
        self.bars.show_overview(overview)
        self._show_legend(overview)
        self._show_milestones(overview)
        self._show_curve_of(overview)
        self._offer_projects(overview)

    def show_habits(self, habits: Habits) -> None:
        self.week.show_week(habits.week)
        self._habit.setText(history_words.habit(habits.week))
        self.reasons.show_reasons(habits.idle)
        self._reason.setText(history_words.main_reason(habits.idle))
        choices = {tr("However it ended"): None} | {history_words.reason(name): name for name in habits.endings}
        self._endings.offer(choices, self._ending)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        roomy = self.viewport().width() >= _ROOMY_WIDTH
        margin = theme.PAGE_MARGIN if roomy else theme.PAGE_MARGIN_NARROW
        self._column.setContentsMargins(margin, theme.UNIT * 5, margin, theme.UNIT * 5)
        self._arrange_tiles(4 if roomy else 2)

    # -- parts ---------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._problem = Notice("problem-frame")
        self.files = HistoryFiles(self, self._link, self.refresh, self._problem.say)
        self._empty = Card(tr("Nothing was given yet"))
        text = tr("Once this computer contributes, every hour of it is kept here, for ever and on this computer alone.")
        self._empty.column.addWidget(Label(text, wrap=True))
        self._empty.hide()
        content = QWidget()
        self._column = column = QVBoxLayout(content)
        column.setSpacing(theme.GAP)
        column.addLayout(self._head())
        column.addWidget(self._problem)
        column.addWidget(self.files.notice)
        column.addWidget(self._empty)
        self._full = QWidget()
        inner = QVBoxLayout(self._full)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(theme.GAP)
        inner.addLayout(self._tiles())
        inner.addWidget(self._comparison_card())
        inner.addWidget(self._calendar_card())
        inner.addWidget(self._bars_card())
        inner.addLayout(self._habit_cards())
        inner.addWidget(self._curve_card())
        inner.addWidget(self._sessions_card())
        inner.addWidget(self._milestones_card())
        column.addWidget(self._full)
        column.addStretch(1)
        self._full.hide()
        self.setWidget(content)

    def _head(self) -> QHBoxLayout:
        self._title = Label("", Type.TEXT, "muted")
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(Label(tr("History"), Type.HEADLINE))
        names.addWidget(self._title)
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        row.addLayout(names, 1)
        self._back = Button(tr("Back"), "link", lambda: self.choose(Range("year")))
        self._back.hide()
        row.addWidget(self._back)
        self.ranges: dict[history_range.Kind, Button] = {}
        offered: tuple[tuple[history_range.Kind, str], ...] = (
            ("month", tr("30 days")),
            ("year", tr("Year")),
            ("all", tr("All")),
        )
        for kind, name in offered:
            button = Button(name, "preset", partial(self.choose, Range(kind)))
            button.setCheckable(True)
            button.setChecked(kind == self._range.kind)
            self.ranges[kind] = button
            row.addWidget(button)
        row.addWidget(self.files.button)
        return row

    def _tiles(self) -> QGridLayout:
        self.time, self.samples = Tile(tr("Given")), Tile(tr("Samples"))
        self.energy, self.network = Tile(tr("Energy")), Tile(tr("Network"))
        self._tile_grid = QGridLayout()
        self._tile_grid.setSpacing(theme.GAP)
        self._arrange_tiles(4)
        return self._tile_grid

    def _arrange_tiles(self, columns: int) -> None:
        for number, tile in enumerate((self.time, self.samples, self.energy, self.network)):
            self._tile_grid.addWidget(tile, number // columns, number % columns)
        for column in range(4):
            self._tile_grid.setColumnStretch(column, int(column < columns))

    def _comparison_card(self) -> Card:
        self._comparisons = Card(tr("In other words"))
        self._comparison = Label("", wrap=True)
        self._comparisons.column.addWidget(self._comparison)
        return self._comparisons

    def _calendar_card(self) -> Card:
        card = Card()
        card.setAccessibleName(tr("Calendar"))
        self.calendar = CalendarView(_first_day())
        self.calendar.chosen.connect(lambda day: self.choose(history_range.one_day(day)))
        self._year_label = Label("", Type.LABEL, "muted")
        self._earlier = Button("‹", "icon", partial(self._turn_year, -1))
        self._later = Button("›", "icon", partial(self._turn_year, 1))
        for button, name in ((self._earlier, tr("Earlier year")), (self._later, tr("Later year"))):
            button.setFixedWidth(30)
            button.setAccessibleName(name)
            button.setToolTip(name)
        row = QHBoxLayout()
        row.addWidget(Label(tr("Hours a day"), Type.LABEL, "muted"), 1)
        for widget in (self._earlier, self._year_label, self._later):
            row.addWidget(widget)
        card.column.addLayout(row)
        card.column.addWidget(self.calendar)
        return card

    def _bars_card(self) -> Card:
        card = Card()
        card.setAccessibleName(tr("By project"))
        self.bars = BarsView()
        self.bars.chosen.connect(lambda since, until: self.choose(Range("own", since, until)))
        self._legend = QHBoxLayout()
        self._legend.setSpacing(theme.UNIT * 2)
        row = QHBoxLayout()
        row.addWidget(Label(tr("Hours by project"), Type.LABEL, "muted"), 1)
        row.addLayout(self._legend)
        card.column.addLayout(row)
        card.column.addWidget(self.bars)
        return card

    def _habit_cards(self) -> QHBoxLayout:
        when, why = Card(tr("Hours of the week")), Card(tr("Wanted, but not given"))
        self.week, self.reasons = WeekHoursView(_first_day()), ReasonsView()
        self._habit, self._reason = Label("", Type.STRONG, wrap=True), Label("", Type.STRONG, wrap=True)
        for card, sentence, view in ((when, self._habit, self.week), (why, self._reason, self.reasons)):
            card.column.addWidget(sentence)
            card.column.addWidget(view, 1)
        row = QHBoxLayout()
        row.setSpacing(theme.GAP)
        row.addWidget(when, 3)
        row.addWidget(why, 2)
        return row

    def _curve_card(self) -> Card:
        card = Card()
        card.setAccessibleName(tr("Learning curve"))
        self.curve, self.strip = CurveView(), GaveStrip()
        self.curve.setMinimumHeight(150)
        self._curves = MenuButton(tr("Project of the learning curve"), self._show_curve)
        row = QHBoxLayout()
        row.addWidget(Label(tr("What the model learned, and your samples along it"), Type.LABEL, "muted"), 1)
        row.addWidget(self._curves)
        card.column.addLayout(row)
        card.column.addWidget(self.curve)
        card.column.addWidget(self.strip)
        return card

    def _sessions_card(self) -> Card:
        card = Card()
        card.setAccessibleName(tr("Sessions"))
        self._projects = MenuButton(tr("Sessions of this project"), self._filter_project)
        self._endings = MenuButton(tr("Sessions that ended so"), self._filter_ending)
        self._count = Label("", Type.LABEL, "muted")
        row = QHBoxLayout()
        row.addWidget(self._count, 1)
        row.addWidget(self._projects)
        row.addWidget(self._endings)
        self.table = SessionsTable(self._ask_sessions)
        card.column.addLayout(row)
        card.column.addWidget(self.table)
        return card

    def _milestones_card(self) -> Card:
        card = Card(tr("Milestones"))
        self._milestones = QVBoxLayout()
        self._milestones.setSpacing(theme.UNIT)
        card.column.addLayout(self._milestones)
        return card

    # -- what they show ------------------------------------------------------------------------------------------

    def _show_tiles(self, overview: Overview) -> None:
        sums = overview.sums
        since = tr("since {day}", day=history_words.day(overview.first or overview.since))
        sessions = trn("1 session", "{n} sessions", overview.sessions, n=fmt.count(overview.sessions))
        self.time.say(*history_words.hours(sums.seconds), since if self._range.kind == "all" else sessions)
        if sums.accepted is None:
            self.samples.say(fmt.count(sums.samples), "", tr("computed"))
        else:
            counted = tr("accepted of {n} computed", n=fmt.count(sums.samples))
            rounds = trn("1 round", "{n} rounds", sums.rounds, n=fmt.count(sums.rounds))
            self.samples.say(fmt.count(sums.accepted), "", f"{counted} · {rounds}")
        figure = history_words.energy(sums.energy) if sums.energy is not None else ("–", "")
        cost = history_words.cost(overview.cost)
        self.energy.say(*figure, " · ".join(part for part in (cost, history_words.energy_source(sums)) if part))
        number, _, unit = fmt.size(sums.uploaded + sums.downloaded).partition(fmt.SPACE)
        up, down = fmt.size(sums.uploaded), fmt.size(sums.downloaded)
        self.network.say(number, unit, tr("{up} up · {down} down", up=up, down=down))
        told = history_words.comparisons(sums)
        self._comparison.setText(" ".join(told))
        self._comparisons.setVisible(bool(told))

    def _show_legend(self, overview: Overview) -> None:
        clear(self._legend)
        for place, project in enumerate(overview.projects[:COLOURED]):
            self._legend.addWidget(ProjectSwatch(place))
            self._legend.addWidget(Label(project.name, Type.CAPTION, "muted"))
        if len(overview.projects) > COLOURED:
            self._legend.addWidget(ProjectSwatch(-1))
            self._legend.addWidget(Label(tr("others"), Type.CAPTION, "muted"))

    def _show_milestones(self, overview: Overview) -> None:
        clear(self._milestones)
        now = time.time()
        reached = [m for m in overview.milestones if m.reached]
        for milestone in reversed(reached[-6:]):
            day = history_words.day(milestone.at or now)
            line = tr("{name} · {day}", name=history_words.milestone(milestone), day=day)
            self._milestones.addWidget(Label(line))
        coming = [history_words.coming(m, now) for m in overview.milestones if not m.reached]
        for line in coming:
            self._milestones.addWidget(Label(line, Type.TEXT, "muted"))

    def _offer_projects(self, overview: Overview) -> None:
        names = {project.name: project.project for project in overview.projects}
        self._projects.offer({tr("All projects"): None, **names}, self._project)
        self._count.setText(trn("1 session", "{n} sessions", overview.sessions, n=fmt.count(overview.sessions)))

    def _show_curve_of(self, overview: Overview) -> None:
        projects = [project.project for project in overview.projects]
        self._curves.offer({project.name: project.project for project in overview.projects}, self._curve_of)
        if self._curve_of not in projects and projects:
            self._curves.offer({project.name: project.project for project in overview.projects}, projects[0])
            self._show_curve(projects[0])

    def _show_curve(self, project: str | None) -> None:
        self._curve_of = project

        def show(points: list[CurvePoint]) -> None:
            if project == self._curve_of:
                self.curve.set_points(points)
                self.strip.set_points(points if self.curve.points else ())

        # A project that has left the list has no curve any more; its hours stay.
        if project is not None:
            self._link.ask(GetCurve(project), show, lambda _sentence: show([]), list[CurvePoint])

    # -- asking --------------------------------------------------------------------------------------------------

    def _ask(self, command: Any, done: Callable[[Any], None], kind: Any) -> None:
        number = self._asked

        def answer(result: Any) -> None:
            if number == self._asked:
                done(result)

        self._link.ask(command, answer, self._problem.say, kind=kind)

    def _ask_sessions(self, before: float | None = None) -> None:
        command = self._range.sessions(time.time(), before, self._project, self._ending)
        show = self.table.sessions.show if before is None else self.table.sessions.add
        self._ask(command, show, list[SessionGiven])

    def _filter_project(self, project: str | None) -> None:
        self._project = project
        self._ask_sessions()

    def _filter_ending(self, ending: str | None) -> None:
        self._ending = ending
        self._ask_sessions()

    def _turn_year(self, years: int) -> None:
        if self.overview:
            self._year = self.overview.year + years
            self._ask(self._range.overview(time.time(), self._year), self.show_overview, Overview)

    def _refresh_now_and_then(self) -> None:
        if self.isVisible() and abs(time.time() - self._asked_at) > _REFRESH_SECONDS:
            self.refresh()


def _first_day() -> int:
    """Of the week in this region, Monday = 0."""
    return QLocale().firstDayOfWeek().value - 1

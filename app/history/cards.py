"""The cards of the history page that only show: the calendar, hours by project, habits and milestones."""

import time
from collections.abc import Callable
from datetime import date
from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.history.charts.bars import BarsView, colour
from app.history.charts.calendar import CalendarView
from app.history.habits import ReasonsView, WeekHoursView
from app.text import history
from app.text.formats import region, times
from app.text.i18n import tr
from app.widgets import layouts, theme, verbatim
from app.widgets.basic import Button, Card, Label
from app.widgets.flow import FlowLayout
from app.widgets.swatch import Swatch
from app.widgets.theme import Type
from core.api.record.record import COLOURED, Habits, Overview

_MOST_REACHED = 6
"""Milestones that are shown, the latest."""


class CalendarCard(Card):
    """A year of days. `choose` receives a clicked day, `turn` the number of years to move."""

    def __init__(self, choose: Callable[[date], None], turn: Callable[[int], None]) -> None:
        super().__init__(name=tr("Calendar"))
        self.calendar = CalendarView(region.current().first_day)
        self.calendar.chosen.connect(choose)
        self._year = Label("", Type.LABEL, "muted")
        self.earlier = Button("‹", "icon", partial(turn, -1))
        self.later = Button("›", "icon", partial(turn, 1))
        for button, name in ((self.earlier, tr("Earlier year")), (self.later, tr("Later year"))):
            button.setFixedWidth(30)
            button.setAccessibleName(name)
            button.setToolTip(name)
        heading = Label(tr("Hours a day"), Type.LABEL, "muted")
        self.add(layouts.row((heading, 1), self.earlier, self._year, self.later), self.calendar)

    def show_overview(self, overview: Overview) -> None:
        self.calendar.show_year(overview.year, overview.calendar)
        self._year.setText(str(overview.year))
        years = overview.years or (overview.year,)
        self.earlier.setEnabled(overview.year > min(years))
        self.later.setEnabled(overview.year < max(years))


class ProjectsCard(Card):
    """Stacked bars with their legend. `choose` receives the start and end of a clicked bar."""

    def __init__(self, choose: Callable[[float, float], None]) -> None:
        super().__init__(name=tr("By project"))
        self.bars = BarsView()
        self.bars.chosen.connect(choose)
        self._legend = FlowLayout(spacing=theme.UNIT * 2)
        heading = Label(tr("Hours by project"), Type.LABEL, "muted")
        self.add(layouts.row((heading, 1), self._legend), self.bars)

    def show_overview(self, overview: Overview) -> None:
        self.bars.show_overview(overview)
        layouts.clear(self._legend)
        names = dict(enumerate(list(history.by_name(overview.projects))[:COLOURED]))
        if len(overview.projects) > COLOURED:
            names[-1] = tr("others")
        for place, name in names.items():
            self._legend.add(_legend_entry(place, name))


def _legend_entry(place: int, name: str) -> QWidget:
    entry, label = QWidget(), Label("", Type.CAPTION, "muted")
    label.setText(verbatim.shortened(name, label.fontMetrics(), theme.scaled(280)))
    label.setToolTip(verbatim.in_tip(name))
    swatch = Swatch(partial(colour, place), side=11, radius=3)
    layouts.row(swatch, label, spacing=theme.UNIT * 2, of=entry)
    return entry


class HabitCards(QHBoxLayout):
    """When this computer contributes, and why not, side by side, each with a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(theme.GAP)
        self.week, self.reasons = WeekHoursView(region.current().first_day), ReasonsView()
        self._habit, self._reason = Label("", Type.STRONG, wrap=True), Label("", Type.STRONG, wrap=True)
        self.addWidget(Card(tr("Hours of the week"), self._habit, (self.week, 1)), 3)
        self.addWidget(Card(tr("Why it did not contribute"), self._reason, (self.reasons, 1)), 2)

    def show_habits(self, habits: Habits) -> None:
        self.week.show_week(habits.week)
        self._habit.setText(history.habit(habits.week))
        self.reasons.show_reasons(habits.idle)
        self._reason.setText(history.main_reason(habits.idle))


class MilestonesCard(Card):
    """Round numbers, latest first, then those to come."""

    def __init__(self) -> None:
        self._lines = layouts.column(spacing=theme.UNIT)
        super().__init__(tr("Milestones"), self._lines)

    def show_overview(self, overview: Overview) -> None:
        layouts.clear(self._lines)
        now = time.time()
        reached = [milestone for milestone in overview.milestones if milestone.reached]
        for milestone in reversed(reached[-_MOST_REACHED:]):
            day = times.day(milestone.at or now)
            line = tr("{name} · {day}", name=history.milestone(milestone), day=day)
            self._lines.addWidget(Label(line))
        for milestone in overview.milestones:
            if not milestone.reached:
                self._lines.addWidget(Label(history.coming(milestone, now), Type.TEXT, "muted"))

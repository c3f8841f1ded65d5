"""The home page: the state, the large button, today's figures and the learning curve."""

import time
from math import ceil

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QHideEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.desktop.window_settings import Settings
from app.home.contribute_button import AnywayButton, ContributeButton
from app.home.day_strip import DayStrip
from app.home.epoch_ring import EpochRing
from app.home.port_question import PortQuestion
from app.home.runtime_notice import RuntimeNotice
from app.home.step_chips import StepChips
from app.home.tiles import Tiles
from app.link.engine_link import EngineLink, Link
from app.text import messages, preferences, reasons, status, steps
from app.text.i18n import tr
from app.text.installation import release
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Dot, Label, Notice
from app.widgets.charts.learning_curve import CurveView, Legend
from app.widgets.page import Page
from app.widgets.theme import Type
from core.api.preferences.commands import ListPreferences, PreferenceInfo, values_of
from core.api.preferences.schedule import ScheduleState
from core.api.project.projects import CurvePoint, GetCurve
from core.api.protocol import Command, Event
from core.api.snapshot import Snapshot

_BETWEEN = theme.UNIT * 2
_SLACK = theme.UNIT
"""Some scripts have letters of another font, whose lines are a little higher."""


class HomePage(Page):
    """Shows the latest snapshot; keeps only the curve that it has fetched."""

    limit_opened = Signal(str)
    """The volunteer wants to see the preference of this name."""
    release_opened = Signal()

    def __init__(self, link: EngineLink, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._link = link
        self._snapshot: Snapshot | None = None
        self._curve_of: tuple[str | None, int] | None = None
        self._week_of: tuple[ScheduleState, int] | None = None
        self._stage: tuple[str, float] = "", 0.0
        """The state, and since when it is seen."""
        self._asked = False
        """A command has no answer yet: ignore a second press."""
        self._build()
        self._second = QTimer(self, interval=1000)
        self._second.timeout.connect(self._show_words)
        link.snapshot_changed.connect(self.show_snapshot)
        link.event_came.connect(self._on_event)
        link.link_changed.connect(self._on_link)
        self._on_link(link.state, link.sentence)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        """Everything on the page follows from the snapshot; a hidden page is updated when it is shown."""
        self._snapshot = snapshot
        if snapshot.state != self._stage[0]:
            self._stage = snapshot.state, time.time()
        if self.isVisible():
            self._paint_snapshot(snapshot)

    def _paint_snapshot(self, snapshot: Snapshot) -> None:
        self._ring.show_progress(snapshot.progress, status.rest(snapshot), busy=steps.is_getting_ready(snapshot))
        self._chips.show_snapshot(snapshot)
        self._tiles.show_snapshot(snapshot)
        self.day.show_snapshot(snapshot)
        self.place.setText(status.place(snapshot.place))
        self.place.setVisible(bool(self.place.text()))
        self.button.show_snapshot(snapshot)
        self.port_question.show_snapshot(snapshot)
        self.runtime_notice.show_snapshot(snapshot)
        # The settings page, to which it leads, is this computer's.
        self._show_offer("" if self._link.machine else release.offered(snapshot.release))
        self.anyway.show_snapshot(snapshot)
        self._show_remedy(reasons.remedy(snapshot))
        self.button.set_enabled(self._link.state is Link.UP)
        self._show_words()
        self._fetch_curve(snapshot)
        self._fetch_week(snapshot)

    def perform(self, command: Command) -> None:
        """Send a command of the volunteer; this page shows a refusal."""
        self._problem.set_text("")
        if not self._asked:
            self._asked = True
            self._link.ask(command, self._on_done, self._on_refused)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._snapshot is not None and self._link.state is Link.UP:
            self._paint_snapshot(self._snapshot)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._second.stop()

    def arrange(self, roomy: bool) -> None:
        self._tiles.arrange(4 if roomy else 2)
        self._ring.set_diameter(theme.scaled(232 if roomy else 132))
        self._state_row.setSpacing(theme.UNIT * (10 if roomy else 4))
        # Room for more lines than there are: the button must not move under the pointer with each step.
        lines = {self._caption: 2, self._title: 1, self._explanation: 2 if roomy else 3}
        room = sum(number * ceil(QFontMetricsF(label.font()).lineSpacing()) for label, number in lines.items())
        self._sentences.setMinimumHeight(room + _SLACK + 2 * _BETWEEN)

    def _build(self) -> None:
        self._ring, self._chips, self._tiles = EpochRing(), StepChips(), Tiles()
        self._curve, self.day = CurveView(), DayStrip()
        self.fill(self._state_card(), self._tiles, (self._curve_card(), 1), self.day)

    def _state_card(self) -> Card:
        self._state_row = layouts.row((self._ring, Qt.AlignmentFlag.AlignVCenter), (self._words(), 1))
        self._state_row.setContentsMargins(*[theme.UNIT] * 4)
        return Card("", self._state_row, *self._notices(), name=tr("What is going on"))

    def _notices(self) -> tuple[QWidget, ...]:
        """Below the button, which so stays under the pointer; those that may stay for long come first."""
        self._release = Notice("notice-frame")
        self._release.offer(Button(tr("Show…"), "secondary", self.release_opened.emit))
        self._offered = ""
        self._reward, self._problem = Notice("notice-frame"), Notice("problem-frame")
        self.port_question = PortQuestion(self.perform)
        self.runtime_notice = RuntimeNotice(self.perform)
        return self.runtime_notice, self.port_question, self._problem, self._reward, self._release

    def _words(self) -> QVBoxLayout:
        self._dot = Dot()
        self._caption = Label(kind=Type.STRONG, wrap=True)
        self._title = Label(kind=Type.HEADLINE, wrap=True)
        self._explanation = Label(wrap=True)
        self._left = Label(kind=Type.CAPTION, role="muted")
        self.button = ContributeButton(self.perform)
        state = layouts.row(self._dot, (self._caption, 1), spacing=theme.UNIT * 2)
        self.remedy = Button(tr("Change this limit…"), "link", lambda: self.limit_opened.emit(self._remedy))
        self.remedy.hide()
        actions = layouts.row(self.button, (self._left, 1), spacing=theme.UNIT * 3)
        self.anyway = AnywayButton(self.perform)
        self._sentences = QWidget()
        layouts.column(state, self._title, self._explanation, None, spacing=_BETWEEN, of=self._sentences)
        below = self._steps_or_limits()
        return layouts.column(None, self._sentences, theme.UNIT, below, _BETWEEN, actions, None, spacing=_BETWEEN)

    def _steps_or_limits(self) -> QGridLayout:
        """In one place, which is as high as the steps in any case: they may take two rows."""
        layouts.keep_place(self._chips)
        place = layouts.grid(0, 0, 1)
        place.addWidget(self._chips, 0, 0)
        place.addLayout(layouts.row(self.remedy, self.anyway, None), 0, 0)
        return place

    def _curve_card(self) -> Card:
        self.place = Label("", Type.CAPTION, "muted", wrap=True)
        self.place.setToolTip(tr("As the project's backbone counts what volunteers say they gave."))
        head = layouts.row(Label(tr("Learning curve"), Type.LABEL, "muted"), None, Legend())
        return Card("", head, self.place, (self._curve, 1), name=tr("Learning curve"))

    def _show_offer(self, sentence: str) -> None:
        """Once for each version, until it is dismissed."""
        if sentence != self._offered:
            self._offered = sentence
            self._release.set_text(sentence)

    def _show_remedy(self, preference: str | None) -> None:
        """In the place of the steps: there are none then."""
        self._remedy = preference or ""
        self.remedy.setToolTip(preferences.words(preference).name if preference else "")
        self.remedy.setVisible(preference is not None)
        self._chips.setVisible(preference is None and self.anyway.isHidden())

    def _show_words(self) -> None:
        """The sentences; once a second while one counts down and the page is visible."""
        if self._link.state is not Link.UP or self._snapshot is None:
            self._second.stop()
            return
        snapshot, now = self._snapshot, time.time()
        self._show_state(status.tone(snapshot), status.caption(snapshot, now), status.explanation(snapshot, now))
        self._title.setText(status.title(snapshot))
        starting = steps.is_getting_ready(snapshot)
        self._left.setText(steps.waited(now - self._stage[1]) if starting else status.time_left(snapshot, now))
        counting = starting or status.ends_at(snapshot) is not None
        if counting and self.isVisible() and not self._second.isActive():
            self._second.start()
        elif not counting:
            self._second.stop()

    def _show_state(self, tone: str, caption: str, explanation: str) -> None:
        self._dot.set_tone(tone)
        theme.set_role(self._caption, tone)
        self._caption.setText(caption)
        self._explanation.setText(explanation)

    def _on_link(self, state: Link, _sentence: str) -> None:
        """Figures of an engine that does not answer are not shown as if they were live."""
        self.button.set_enabled(state is Link.UP and self._snapshot is not None)
        self.day.setVisible(state is Link.UP)
        if state is Link.UP:
            self._curve_of = self._week_of = None
            return
        self._asked = False
        last = self._snapshot or Snapshot(state="idle")
        self._snapshot = Snapshot(state="idle", project=last.project, project_name=last.project_name, today=last.today)
        self._paint_snapshot(self._snapshot)
        self._title.setText(status.title(last))
        self._left.setText("")
        if state is Link.STARTING:
            self._show_state(
                "working", tr("Starting the engine"), tr("It does the work and continues when you close this window.")
            )
        else:
            self._show_state("problem", tr("The engine does not answer"), tr("What you have given is saved."))

    def _on_done(self, _: object) -> None:
        self._asked = False

    def _on_refused(self, sentence: str) -> None:
        self._asked = False
        self._problem.set_text(sentence)

    def _on_event(self, event: Event) -> None:
        if event.kind == "first_contribution":
            self._reward.set_text(tr("Your first samples are computed. They count when this epoch is done."))
        elif event.kind == "epoch_done" and event.loss is not None and self._settings.first_time("epoch"):
            self._reward.set_text(
                tr("Your first epoch is done: the shared model now carries what your computer learned.")
            )
        elif event.kind == "warning":
            self._problem.set_text(messages.sentence(event.message))

    def _fetch_curve(self, snapshot: Snapshot) -> None:
        """Once an epoch, not on a timer: nothing on the curve changes in between."""
        wanted = (snapshot.project, snapshot.progress.epoch)
        if wanted == self._curve_of or self._link.state is not Link.UP:
            return
        self._curve_of = wanted
        if snapshot.project is None:
            self._curve.set_points([])
        else:

            def show(points: list[CurvePoint]) -> None:
                if self._curve_of == wanted:  # an answer that was overtaken belongs to another project or epoch
                    self._curve.set_points(points)

            self._link.ask(GetCurve(snapshot.project), show, kind=list[CurvePoint])

    def _fetch_week(self, snapshot: Snapshot) -> None:
        """Fetch the week when it may have changed or its next hours have come."""
        wanted = (snapshot.schedule, snapshot.changes)
        if wanted == self._week_of or self._link.state is not Link.UP:
            return
        self._week_of = wanted
        self._link.ask(
            ListPreferences(), lambda known: self.day.show_week(values_of(known)["week"]), kind=list[PreferenceInfo]
        )

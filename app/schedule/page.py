"""The schedule page: the week to paint, presets, what the levels mean, and what the schedule says now and next."""

import time
from datetime import UTC, datetime, tzinfo
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QWidget

from app.link.engine_link import EngineLink, Link
from app.schedule.level_button import LevelButton
from app.schedule.week_grid import WeekGrid
from app.text import region, schedule
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.basic import Button, Card, Label, Notice
from app.widgets.page import Page
from app.widgets.theme import Type
from app.widgets.tile import Tile
from core.api.preferences.limits import LimitInfo, ShowLimits
from core.api.preferences.schedule import GetSchedule, Level, Preset, ScheduleInfo, SetSchedule
from core.api.snapshot import Snapshot

_TICK_MS = 20_000
"""How often the marker moves: less than a pixel at a time."""
_MOST_UNDO = 100


class SchedulePage(Page):
    """Shows the engine's week; keeps only what Undo needs."""

    def __init__(self, link: EngineLink) -> None:
        super().__init__()
        self._link = link
        self._info: ScheduleInfo | None = None
        self._undo: list[ScheduleInfo] = []
        self._redo: list[ScheduleInfo] = []
        self._build()
        self._tick = QTimer(self)
        self._tick.setInterval(_TICK_MS)
        self._tick.timeout.connect(self._show_now)
        self._shortcut(QKeySequence.StandardKey.Undo, self.undo)
        self._shortcut(QKeySequence.StandardKey.Redo, self.redo)
        link.snapshot_changed.connect(self._on_snapshot)
        link.link_changed.connect(self._on_link)
        self._on_link(link.state, link.sentence)

    def refresh(self) -> None:
        """Fetch the week and the meanings of its levels, if the page is visible."""
        if self.isVisible() and self._link.state is Link.UP:
            self._link.ask(GetSchedule(), self.show_schedule, self._problem.set_text, kind=ScheduleInfo)
            self._link.ask(ShowLimits(), self._show_meanings, kind=list[LimitInfo])

    def show_schedule(self, info: ScheduleInfo) -> None:
        """The week that is in force."""
        self._info = info
        self._problem.set_text("")
        self.grid.show_cells(info.cells)
        for preset, button in self.presets.items():
            button.setChecked(info.preset == preset)
        hours = schedule.week_hours(info.cells)
        self._week.show_figure(hours, tr("h"), schedule.of_which_full(info.cells))
        self.undo_button.setVisible(bool(self._undo))
        self._show_now()

    def paint(self, cells: str) -> None:
        """Have the engine take a painted week."""
        self._change(SetSchedule(cells=cells))

    def choose(self, preset: Preset) -> None:
        """Have the engine take a preset."""
        self._change(SetSchedule(preset=preset))

    def undo(self) -> None:
        """Back to the week before the last change."""
        self._go(self._undo, self._redo)

    def redo(self) -> None:
        """Take an Undo back."""
        self._go(self._redo, self._undo)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick.start()
        self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()

    def arrange(self, roomy: bool) -> None:
        self._head_grid.addWidget(self._preset_bar, 0 if roomy else 2, 1 if roomy else 0, 1, 1 if roomy else 2)

    def _build(self) -> None:
        self._problem = Notice("problem-frame")
        self._now, self._week = Tile(tr("Now")), Tile(tr("This week"))
        column = self.column
        column.addLayout(self._head())
        column.addWidget(self._problem)
        column.addWidget(self._grid_card())
        cards = QHBoxLayout()
        cards.setSpacing(theme.GAP)
        cards.addWidget(self._now, 1)
        cards.addWidget(self._week, 1)
        column.addLayout(cards)
        column.addStretch(1)

    def _head(self) -> QGridLayout:
        self._preset_bar = QWidget()
        row = QHBoxLayout(self._preset_bar)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.UNIT * 2)
        self.presets: dict[Preset, Button] = {}
        for preset, name in _preset_names().items():
            button = Button(name, "preset", partial(self._on_preset, preset))
            button.setCheckable(True)
            self.presets[preset] = button
            row.addWidget(button)
        row.addStretch(1)
        text = tr("When this computer may contribute. Times are local and follow daylight saving.")
        self._head_grid = grid = QGridLayout()
        grid.setVerticalSpacing(theme.UNIT * 2)
        grid.setColumnStretch(0, 1)
        grid.addWidget(Label(tr("Schedule"), Type.HEADLINE), 0, 0)
        grid.addWidget(Label(text, Type.TEXT, "muted", wrap=True), 1, 0, 1, 2)
        return grid

    def _grid_card(self) -> Card:
        card = Card()
        card.setAccessibleName(tr("The week"))
        self.grid = WeekGrid(region.current().first_day)
        self.grid.painted.connect(self.paint)
        self.grid.pointed.connect(self._on_pointed)
        self._readout = Label("", Type.CAPTION, "muted", wrap=True)
        self._readout.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._readout.setMinimumHeight(2 * self._readout.fontMetrics().lineSpacing())
        self.undo_button = Button(tr("Undo"), "link", self.undo)
        self.undo_button.setToolTip(QKeySequence(QKeySequence.StandardKey.Undo).toString())
        row = QHBoxLayout()
        row.addWidget(self._readout, 1)
        row.addWidget(self.undo_button)
        card.column.addWidget(self.grid)
        card.column.addLayout(row)
        card.column.addLayout(self._brushes())
        self._on_pointed("")
        return card

    def _brushes(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT * 2)
        group = QButtonGroup(self)
        self.brushes = {level: LevelButton(level) for level in Level}
        for level, button in self.brushes.items():
            button.clicked.connect(partial(self._choose_level, level))
            group.addButton(button)
            row.addWidget(button, 1)
        self.brushes[self.grid.brush].setChecked(True)
        return row

    def _choose_level(self, level: Level, _checked: bool = True) -> None:
        self.grid.brush = level

    def _on_preset(self, preset: Preset) -> None:
        # The mark goes to the button when the engine has taken the preset, not before.
        for each, button in self.presets.items():
            button.setChecked(self._info is not None and self._info.preset == each)
        self.choose(preset)

    def _change(self, command: SetSchedule) -> None:
        before = self._info

        def done(info: ScheduleInfo) -> None:
            if before and info != before:
                self._undo = [*self._undo[-_MOST_UNDO:], before]
                self._redo.clear()
            self.show_schedule(info)

        self._link.ask(command, done, self._on_refused, kind=ScheduleInfo)

    def _go(self, source: list[ScheduleInfo], target: list[ScheduleInfo]) -> None:
        if not source or self._info is None:
            return
        wanted, before = source.pop(), self._info

        def done(info: ScheduleInfo) -> None:
            target.append(before)
            self.show_schedule(info)

        command = SetSchedule(preset=wanted.preset) if wanted.preset else SetSchedule(cells=wanted.cells)
        self._link.ask(command, done, self._on_refused, kind=ScheduleInfo)

    def _on_refused(self, sentence: str) -> None:
        if self._info:
            self.grid.show_cells(self._info.cells)
        self._problem.set_text(sentence)

    def _on_pointed(self, text: str) -> None:
        hint = tr("Drag to paint; the right button paints off. A click on a day or an hour paints all of it.")
        self._readout.setText(text or hint)

    def _show_meanings(self, limits: list[LimitInfo]) -> None:
        uses_gpu = self._link.snapshot is not None and bool(self._link.snapshot.settings.gpu)
        for level, button in self.brushes.items():
            button.set_meaning(schedule.level_meaning(level, limits, uses_gpu=uses_gpu))

    def _show_now(self) -> None:
        """Where we are in the week, and what the schedule says of it."""
        snapshot = self._link.snapshot
        if self._info is None or snapshot is None:
            return
        now, zone = time.time(), _zone(self._info)
        local = datetime.fromtimestamp(now, zone)
        self.grid.show_now(local.weekday(), (local.hour * 60 + local.minute) / (24 * 60))
        state = snapshot.schedule
        caption = schedule.override(state, now) or schedule.until(state, self._info.cells, zone, now)
        self._now.show_figure(schedule.level_now(state), "", caption)

    def _on_snapshot(self, _snapshot: Snapshot) -> None:
        if self.isVisible():
            self._show_now()

    def _on_link(self, state: Link, _sentence: str) -> None:
        for widget in (self.grid, *self.presets.values(), *self.brushes.values()):
            widget.setEnabled(state is Link.UP)
        self.undo_button.setEnabled(state is Link.UP)
        self.refresh()

    def _shortcut(self, key: QKeySequence.StandardKey, then: object) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(then)


def _preset_names() -> dict[Preset, str]:
    return {
        "always": tr("Always"),
        "nights": tr("Nights"),
        "weekends": tr("Weekends"),
        "working_day_off": tr("Not in working hours"),
    }


def _zone(info: ScheduleInfo) -> tzinfo:
    """The zone that the engine goes by; this process's own if that one has no name here."""
    try:
        return ZoneInfo(info.zone)
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.now().astimezone().tzinfo or UTC

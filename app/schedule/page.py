"""The schedule page: the week to paint, presets, what the levels mean, and what the schedule says now and next."""

import os
import time
from datetime import UTC, datetime, tzinfo
from functools import partial
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QVBoxLayout

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.link.live_page import LivePage
from app.schedule.level_button import LevelButton
from app.schedule.own_weeks import OwnWeeks
from app.schedule.week_grid import WeekGrid
from app.text import schedule
from app.text.formats import numbers, region
from app.text.i18n import tr
from app.text.typed import week
from app.widgets import layouts, theme
from app.widgets.basic import Button, Card, Label, ToggleButton
from app.widgets.flow import FlowLayout
from app.widgets.theme import Type
from app.widgets.tile import Tile
from core.api.preferences.commands import ListPreferences, PreferenceInfo, SetPreference, values_of
from core.api.preferences.schedule import Level, Preset
from core.api.preferences.week_text import preset_cells
from core.api.snapshot import Snapshot

_TICK_MS = 20_000
"""How often the marker moves: less than a pixel at a time."""
_MOST_UNDO = 100


class SchedulePage(LivePage):
    """Shows the engine's week; keeps only what Undo needs."""

    def __init__(self, link: EngineLink, settings: Settings) -> None:
        super().__init__(link)
        self._settings = settings
        self._cells: str | None = None
        self._undo: list[str] = []
        self._redo: list[str] = []
        self._build()
        self._tick = QTimer(self, interval=_TICK_MS)
        self._tick.timeout.connect(self._show_now)
        self._shortcut(QKeySequence.StandardKey.Undo, self.undo)
        self._shortcut(QKeySequence.StandardKey.Redo, self.redo)
        link.snapshot_changed.connect(self._on_snapshot)
        self.follow_link()

    def fetch(self) -> None:
        self.ask(ListPreferences(), self.show_preferences, list[PreferenceInfo])

    def enable(self, up: bool) -> None:
        for widget in (self.grid, *self.presets.values(), self.own_weeks, *self.brushes.values(), self.undo_button):
            widget.setEnabled(up)

    def show_preferences(self, known: list[PreferenceInfo]) -> None:
        """The week, and what its levels mean."""
        self._show_meanings(known)
        self.show_week(values_of(known)["week"])

    def show_week(self, cells: str) -> None:
        """The week that the engine has."""
        self._cells = cells
        self.problem.set_text("")
        self.grid.show_cells(cells)
        self._mark_preset()
        hours = week.hours(cells, Level.GENTLE, Level.FULL)
        self._week.show_figure(numbers.figure(hours), tr("h"), schedule.of_which_full(cells))
        self.undo_button.setVisible(bool(self._undo))
        self._show_now()

    def paint(self, cells: str) -> None:
        """Have the engine set the week; Undo restores the one before."""
        before = self._cells

        def done(info: PreferenceInfo) -> None:
            if before and info.value != before:
                self._undo = [*self._undo[-_MOST_UNDO:], before]
                self._redo.clear()
            self.show_week(str(info.value))

        self.link.ask(SetPreference("week", cells), done, self._on_refused, kind=PreferenceInfo)

    def choose(self, preset: Preset) -> None:
        """Have the engine set a preset, which marks its button; until then the marks stay."""
        self._mark_preset()
        self.paint(preset_cells(preset))

    def undo(self) -> None:
        """Back to the week before the last change."""
        self._go(self._undo, self._redo)

    def redo(self) -> None:
        """Take an Undo back."""
        self._go(self._redo, self._undo)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._tick.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._tick.stop()

    def _build(self) -> None:
        self._now, self._week = Tile(tr("Now")), Tile(tr("This week"))
        tiles = layouts.row((self._now, 1), (self._week, 1), spacing=theme.GAP)
        self.fill(self._head(), self.problem, self._grid_card(), tiles, None)

    def _head(self) -> QVBoxLayout:
        names = week.preset_names()
        self.presets = {preset: ToggleButton(name, partial(self.choose, preset)) for preset, name in names.items()}
        self.own_weeks = OwnWeeks(self._settings, lambda: self._cells, self.paint)
        buttons = FlowLayout(*self.presets.values(), self.own_weeks, spacing=theme.UNIT * 2)
        text = tr("When this computer may contribute. Times are local and follow daylight saving.")
        heading, caption = Label(tr("Schedule"), Type.HEADLINE), Label(text, Type.TEXT, "muted", wrap=True)
        return layouts.column(heading, caption, buttons, spacing=theme.UNIT * 2)

    def _grid_card(self) -> Card:
        self.grid = WeekGrid(region.current().first_day)
        self.grid.painted.connect(self.paint)
        self.grid.pointed.connect(self._on_pointed)
        self._readout = Label("", Type.CAPTION, "muted", wrap=True)
        self._readout.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        self._readout.setMinimumHeight(2 * self._readout.fontMetrics().lineSpacing())
        self.undo_button = Button(tr("Undo"), "link", self.undo)
        self.undo_button.setToolTip(QKeySequence(QKeySequence.StandardKey.Undo).toString())
        self._on_pointed("")
        readout = layouts.row((self._readout, 1), self.undo_button)
        return Card("", self.grid, readout, self._brushes(), name=tr("The week"))

    def _brushes(self) -> QHBoxLayout:
        group = QButtonGroup(self)
        self.brushes = {level: LevelButton(level) for level in Level}
        for level, button in self.brushes.items():
            button.clicked.connect(partial(self._choose_level, level))
            group.addButton(button)
        self.brushes[self.grid.brush].setChecked(True)
        return layouts.row(*((button, 1) for button in self.brushes.values()), spacing=theme.UNIT * 2)

    def _choose_level(self, level: Level, _checked: bool = True) -> None:
        self.grid.brush = level

    def _mark_preset(self) -> None:
        for preset, button in self.presets.items():
            button.setChecked(self._cells == preset_cells(preset))

    def _go(self, source: list[str], target: list[str]) -> None:
        if not source or self._cells is None:
            return
        wanted, before = source.pop(), self._cells

        def done(info: PreferenceInfo) -> None:
            target.append(before)
            self.show_week(str(info.value))

        self.link.ask(SetPreference("week", wanted), done, self._on_refused, kind=PreferenceInfo)

    def _on_refused(self, sentence: str) -> None:
        if self._cells:
            self.grid.show_cells(self._cells)
        self.problem.set_text(sentence)

    def _on_pointed(self, text: str) -> None:
        hint = tr("Drag to paint; the right button paints off. A click on a day or an hour paints all of it.")
        self._readout.setText(text or hint)

    def _show_meanings(self, known: list[PreferenceInfo]) -> None:
        uses_gpu = self.link.snapshot is not None and bool(self.link.snapshot.settings.gpu)
        for level, button in self.brushes.items():
            button.set_meaning(schedule.level_meaning(level, known, uses_gpu=uses_gpu, cores=os.cpu_count() or 1))

    def _show_now(self) -> None:
        """Where we are in the week, and what the schedule says of it."""
        snapshot = self.link.snapshot
        if self._cells is None or snapshot is None:
            return
        now, zone = time.time(), _zone(snapshot.schedule.zone)
        local = datetime.fromtimestamp(now, zone)
        self.grid.show_now(local.weekday(), (local.hour * 60 + local.minute) / (24 * 60))
        state = snapshot.schedule
        caption = schedule.override(state, now) or schedule.until(state, self._cells, zone, now)
        self._now.show_figure(schedule.level_now(state), "", caption)

    def _on_snapshot(self, _snapshot: Snapshot) -> None:
        if self.isVisible():
            self._show_now()

    def _shortcut(self, key: QKeySequence.StandardKey, then: object) -> None:
        shortcut = QShortcut(QKeySequence(key), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(then)


def _zone(name: str) -> tzinfo:
    """The engine's zone; this process's own if that one has no name here."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return datetime.now().astimezone().tzinfo or UTC

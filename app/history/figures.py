"""The main figures of the history page, with comparisons."""

from PySide6.QtWidgets import QVBoxLayout

from app.history.time_range import TimeRange
from app.text import history
from app.text.formats import amounts, numbers, times
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Card, Label
from app.widgets.tile import Tile
from core.api.record.record import Overview, Sums

_COLUMNS = 4


class HistoryFigures(QVBoxLayout):
    """Tiles of time, samples, energy and network, with comparisons below."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(theme.GAP)
        self.time, self.samples = Tile(tr("Given")), Tile(tr("Samples"))
        self.energy, self.network = Tile(tr("Energy")), Tile(tr("Network"))
        self._grid = layouts.grid(theme.GAP, theme.GAP)
        self._comparison = Label("", wrap=True)
        self._comparisons = Card(tr("In other words"), self._comparison)
        self.arrange(_COLUMNS)
        self.addLayout(self._grid)
        self.addWidget(self._comparisons)

    def arrange(self, columns: int) -> None:
        for number, tile in enumerate((self.time, self.samples, self.energy, self.network)):
            self._grid.addWidget(tile, number // columns, number % columns)
        for column in range(_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))

    def show_overview(self, overview: Overview, shown: TimeRange) -> None:
        sums = overview.sums
        since = tr("since {day}", day=times.day(overview.first or overview.since))
        sessions = amounts.sessions(overview.sessions)
        self.time.show_figure(*history.hours(sums.seconds), since if shown.kind == "all" else sessions)
        self._show_samples(sums)
        figure = numbers.energy_parts(sums.energy) if sums.energy is not None else ("–", "")
        cost = history.cost(overview.cost)
        self.energy.show_figure(*figure, " · ".join(part for part in (cost, history.energy_source(sums)) if part))
        up, down = numbers.size(sums.uploaded), numbers.size(sums.downloaded)
        moved = numbers.size_parts(sums.uploaded + sums.downloaded)
        self.network.show_figure(*moved, tr("{up} up · {down} down", up=up, down=down))
        comparisons = history.comparisons(sums)
        self._comparison.setText(" ".join(comparisons))
        self._comparisons.setVisible(bool(comparisons))

    def _show_samples(self, sums: Sums) -> None:
        if sums.accepted is None:
            self.samples.show_figure(numbers.count(sums.samples), "", tr("computed"))
            return
        computed = tr("accepted of {n} computed", n=numbers.count(sums.samples))
        self.samples.show_figure(numbers.count(sums.accepted), "", f"{computed} · {amounts.rounds(sums.rounds)}")

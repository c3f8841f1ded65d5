"""The tiles of the home page."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout

from app.home import readings
from app.home.meter import Meter
from app.home.readings import Reading
from app.text.i18n import tr
from app.widgets import layouts, theme
from app.widgets.basic import Card, Label
from app.widgets.theme import Type
from app.widgets.tile import Tile
from core.api.snapshot import Snapshot


class MeterTile(Card):
    """Live values, each beside its ceiling, and a caption below."""

    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self._heading = heading
        self._meters: dict[str, Meter] = {}
        self._rows = layouts.column(spacing=theme.UNIT + 2)
        self._caption = Label("", Type.CAPTION, "muted", wrap=True)
        self._caption.setMinimumHeight(2 * self._caption.fontMetrics().lineSpacing())
        self.add(self._rows, self._caption, None)

    def show_readings(self, readings: Sequence[Reading], caption: str = "") -> None:
        """Update the rows; make new ones if the names differ."""
        if [reading.name for reading in readings] != list(self._meters):
            layouts.clear(self._rows)
            self._meters = {reading.name: Meter(reading.name) for reading in readings}
            layouts.add(self._rows, *self._meters.values())
        for reading in readings:
            self._meters[reading.name].show_value(reading.value, reading.ceiling, reading.share)
        spoken = ", ".join(meter.accessibleName() for meter in self._meters.values())
        self._caption.setText(caption)
        self._caption.setVisible(bool(caption))
        self.setAccessibleName(f"{self._heading}: {spoken}, {caption}".rstrip(", "))


class Tiles(QGridLayout):
    """Four tiles: beside each other, or two by two where there is less room.

    What the machine does against its limits is more telling than the number of peers, where it is measured.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(theme.GAP)
        self.today, self.speed, self.peers = Tile(tr("Today")), Tile(tr("Speed")), Tile(tr("Peers"))
        self.computer, self.network = MeterTile(tr("This computer")), MeterTile(tr("Network"))
        self.computer.hide()
        self._columns = 0
        self.arrange(4)

    @property
    def all(self) -> tuple[Card, ...]:
        third = self.peers if self.computer.isHidden() else self.computer
        return self.today, self.speed, third, self.network

    def arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, tile in enumerate((self.today, self.speed, self.peers, self.network)):
            self.addWidget(tile, number // columns, number % columns)
        self.addWidget(self.computer, 2 // columns, 2 % columns)
        stretches = (3, 3, 4, 4) if columns == 4 else (1, 1, 0, 0)
        for column, stretch in enumerate(stretches):
            self.setColumnStretch(column, stretch)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.today.show_figure(*readings.today(snapshot.today))
        self.speed.show_figure(*readings.speed(snapshot))
        self.peers.show_figure(*readings.peers(snapshot))
        self.network.show_readings(readings.network(snapshot), readings.moved(snapshot))
        measured = readings.computer(snapshot)
        self.computer.show_readings(measured, readings.measured(snapshot))
        self.computer.setVisible(bool(measured))
        self.peers.setVisible(not measured)

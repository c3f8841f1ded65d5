"""The tiles of the home page."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QVBoxLayout

from app.home import readings
from app.home.meter import Meter
from app.home.readings import Reading
from app.text import amounts, numbers
from app.text.i18n import tr
from app.text.progress import loss, speed
from app.widgets import theme
from app.widgets.basic import Card, Label, clear
from app.widgets.theme import Type
from app.widgets.tile import NOTHING, Tile
from core.api.snapshot import Progress, Snapshot, Today


class TodayTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Today"))

    def show_today(self, today: Today) -> None:
        given = [tr("samples")]
        if today.seconds:
            given.append(numbers.duration(today.seconds))
        if today.epochs:
            given.append(amounts.epochs(today.epochs))
        self.show_figure(numbers.count(today.samples), "", " · ".join(given))


class SpeedTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Speed"))

    def show_progress(self, progress: Progress | None) -> None:
        """None while this computer does not contribute."""
        if progress is None:
            self.show_figure(NOTHING, "", tr("samples per second"))
            return
        all_peers = max(progress.swarm_samples_per_second, progress.samples_per_second)
        caption = tr("samples; all peers together {speed}", speed=speed(all_peers))
        self.show_figure(numbers.figure(progress.samples_per_second), tr("/s"), caption)


class PeersTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Peers"))

    def show_progress(self, progress: Progress | None) -> None:
        """None without a session."""
        if progress is None or not progress.peers:
            self.show_figure(NOTHING, "", tr("train this model together"))
            return
        caption = tr("you are one of them") if progress.peers > 1 else tr("only you so far")
        if progress.loss is not None:
            caption += " · " + loss(progress.loss)
        self.show_figure(numbers.count(progress.peers), "", caption)


class MeterTile(Card):
    """Live values, each beside its ceiling, and a caption below."""

    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self._heading = heading
        self._meters: dict[str, Meter] = {}
        self._rows = QVBoxLayout()
        self._rows.setSpacing(theme.UNIT + 2)
        self._caption = Label("", Type.CAPTION, "muted", wrap=True)
        self.column.addLayout(self._rows)
        self.column.addWidget(self._caption)
        self.column.addStretch(1)

    def show_readings(self, readings: Sequence[Reading], caption: str = "") -> None:
        """Update the rows; make new ones if the names differ."""
        if [reading.name for reading in readings] != list(self._meters):
            clear(self._rows)
            self._meters = {reading.name: Meter(reading.name) for reading in readings}
            for meter in self._meters.values():
                self._rows.addWidget(meter)
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
        self.today, self.speed, self.peers = TodayTile(), SpeedTile(), PeersTile()
        self.gpu, self.network = MeterTile(tr("Graphics card")), MeterTile(tr("Network"))
        self.gpu.hide()
        self._columns = 0
        self.arrange(4)

    @property
    def all(self) -> tuple[Card, ...]:
        """The visible tiles."""
        third = self.peers if self.gpu.isHidden() else self.gpu
        return self.today, self.speed, third, self.network

    def arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, tile in enumerate((self.today, self.speed, self.peers, self.network)):
            self.addWidget(tile, number // columns, number % columns)
        self.addWidget(self.gpu, 2 // columns, 2 % columns)
        stretches = (3, 3, 4, 4) if columns == 4 else (1, 1, 0, 0)
        for column, stretch in enumerate(stretches):
            self.setColumnStretch(column, stretch)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        self.today.show_today(snapshot.today)
        self.speed.show_progress(snapshot.progress if snapshot.state == "contributing" else None)
        self.peers.show_progress(snapshot.progress if snapshot.session else None)
        # A month's total says more than the session's.
        moved = "" if snapshot.data_month else readings.moved(snapshot)
        self.network.show_readings(readings.network(snapshot), moved)
        measured = readings.gpu(snapshot)
        self.gpu.show_readings(measured)
        self.gpu.setVisible(bool(measured))
        self.peers.setVisible(not measured)

"""The tiles of the home page: one figure each, with its unit and what it belongs to."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout

from app import format as fmt
from app import theme
from app.texts import tr, trn
from app.theme import Type
from app.widgets import Card, Label
from core.api.snapshot import Progress, Snapshot, Today, Traffic

NOTHING = "–"


class Tile(Card):
    """A heading, a large figure with a small unit, and a caption."""

    def __init__(self, heading: str) -> None:
        super().__init__(heading)
        self.figure = Label(NOTHING, Type.FIGURE)
        self.unit = Label("", Type.STRONG, "muted")
        self.caption = Label("", Type.CAPTION, "muted", wrap=True)
        self.caption.setMinimumHeight(2 * self.caption.fontMetrics().lineSpacing())
        row = QHBoxLayout()
        row.setSpacing(theme.UNIT)
        row.addWidget(self.figure, 0, Qt.AlignmentFlag.AlignBaseline)
        row.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignBaseline)
        self.column.addLayout(row)
        self.column.addWidget(self.caption)
        self.column.addStretch(1)
        self._heading = heading

    def say(self, figure: str, unit: str, caption: str) -> None:
        self.figure.setText(figure)
        self.unit.setText(unit)
        self.caption.setText(caption)
        self.setAccessibleName(f"{self._heading}: {figure} {unit} {caption}")


class TodayTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Today"))

    def show_today(self, today: Today) -> None:
        given = [tr("samples")]
        if today.seconds:
            given.append(fmt.duration(today.seconds))
        if today.epochs:
            given.append(trn("1 epoch", "{n} epochs", today.epochs, n=fmt.count(today.epochs)))
        self.say(fmt.count(today.samples), "", " · ".join(given))


class SpeedTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Speed"))

    def show_progress(self, progress: Progress | None) -> None:
        """None while nothing is computed here."""
        if progress is None:
            self.say(NOTHING, "", tr("samples per second"))
            return
        all_peers = max(progress.swarm_samples_per_second, progress.samples_per_second)
        caption = tr("samples; all peers together {speed}/s", speed=fmt.figure(all_peers))
        self.say(fmt.figure(progress.samples_per_second), tr("/s"), caption)


class PeersTile(Tile):
    def __init__(self) -> None:
        super().__init__(tr("Peers"))

    def show_progress(self, progress: Progress | None) -> None:
        """None while the run is out of sight."""
        if progress is None:
            self.say(NOTHING, "", tr("train this model together"))
            return
        caption = tr("you are one of them") if progress.peers > 1 else tr("only you so far")
        if progress.loss is not None:
            caption += " · " + tr("loss {loss}", loss=f"{progress.loss:.2f}")
        self.say(fmt.count(progress.peers), "", caption)


class NetworkTile(Card):
    """Rates in both directions and what the session has moved."""

    def __init__(self) -> None:
        super().__init__(tr("Network"))
        rows = QGridLayout()
        rows.setVerticalSpacing(theme.UNIT + 2)
        rows.setColumnStretch(0, 1)
        self._rates = []
        for row, name in enumerate((tr("Up"), tr("Down"))):
            rate = Label(NOTHING, Type.STRONG)
            rows.addWidget(Label(name, Type.TEXT), row, 0)
            rows.addWidget(rate, row, 1, Qt.AlignmentFlag.AlignRight)
            self._rates.append(rate)
        self._totals = Label("", Type.CAPTION, "muted", wrap=True)
        self._totals.setMinimumHeight(2 * self._totals.fontMetrics().lineSpacing())
        self.column.addLayout(rows)
        self.column.addWidget(self._totals)
        self.column.addStretch(1)

    def show_traffic(self, traffic: Traffic | None) -> None:
        """None while there is no session."""
        if traffic is None:
            texts, totals = [NOTHING, NOTHING], tr("no traffic now")
        else:
            texts = [fmt.rate(traffic.upload_rate), fmt.rate(traffic.download_rate)]
            up, down = fmt.size(traffic.uploaded), fmt.size(traffic.downloaded)
            totals = tr("this session {up} up, {down} down", up=up, down=down)
        for label, text in zip(self._rates, texts, strict=True):
            label.setText(text)
        self._totals.setText(totals)
        self.setAccessibleName(tr("Network: up {up}, down {down}, {totals}", up=texts[0], down=texts[1], totals=totals))


class Tiles(QGridLayout):
    """All tiles: four beside each other, or two by two where there is less room."""

    def __init__(self) -> None:
        super().__init__()
        self.setSpacing(theme.GAP)
        self.today, self.speed, self.network, self.peers = TodayTile(), SpeedTile(), NetworkTile(), PeersTile()
        self.all = (self.today, self.speed, self.network, self.peers)
        self._columns = 0
        self.arrange(4)

    def arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for number, tile in enumerate(self.all):
            self.addWidget(tile, number // columns, number % columns)
        for column in range(4):
            self.setColumnStretch(column, 1 if column < columns else 0)

    def show_snapshot(self, snapshot: Snapshot) -> None:
        in_run = snapshot.state in {"contributing", "holding"} and snapshot.session is not None
        self.today.show_today(snapshot.today)
        self.speed.show_progress(snapshot.progress if in_run else None)
        self.peers.show_progress(snapshot.progress if in_run or snapshot.session else None)
        self.network.show_traffic(snapshot.traffic if snapshot.session else None)

"""Bars of hours, days, weeks or months, one part for each project. A click opens the time of a bar."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QColor, QFontMetrics, QPainter, QPaintEvent, QPen

from app.history.charts.time_chart import TimeChart
from app.text import history
from app.text.formats import amounts, numbers, times
from app.text.i18n import tr, trn
from app.widgets import painting, roles, theme
from app.widgets.charts import axis
from app.widgets.theme import Type
from core.api.record.record import Bar, Bucket, Overview

_TOP = 8.0
_BESIDE_LABELS, _ABOVE_LABELS = 8.0, 5.0
_LABEL = 64.0
_WIDEST = 28.0


class BarsView(TimeChart):
    """`chosen` gives the time of a bar that was clicked, UTC seconds."""

    chosen = Signal(float, float)
    STEPS: ClassVar = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}

    def __init__(self) -> None:
        super().__init__()
        self._bucket: Bucket = "day"
        self._names: list[str] = []
        self._starts: list[float] = []
        self._bars: dict[float, list[Bar]] = {}
        self._most = 1.0
        self._labels: dict[float, str] = {}
        """The text beside each line of the axis, by its seconds."""
        self._room = 0.0
        """Pixels left of the bars: what the labels need."""
        self.setMinimumHeight(150)

    def sizeHint(self) -> QSize:
        return QSize(600, 170)

    def show_overview(self, overview: Overview) -> None:
        """The bars of a period, with the empty ones between them."""
        self._bucket = overview.bucket
        self._names = list(history.by_name(overview.projects))
        bars: dict[float, list[Bar]] = defaultdict(list)
        for bar in overview.bars:
            bars[bar.start].append(bar)
        self._bars = bars
        self._starts = sorted({*bars, *starts(overview.bucket, overview.since, overview.until)})
        self._most = max((sum(bar.seconds for bar in stack) for stack in bars.values()), default=0.0) or 3600.0
        self._labels = axis_labels(self._most)
        metrics = QFontMetrics(theme.font(Type.CAPTION))
        self._room = max(map(metrics.horizontalAdvance, self._labels.values())) + _BESIDE_LABELS
        self.setAccessibleName(
            trn(
                "{time} in 1 bar.",
                "{time} in {count} bars.",
                len(self._starts),
                time=numbers.duration(overview.sums.seconds),
                count=numbers.count(len(self._starts)),
            )
        )
        self.mark(self.places - 1)

    @property
    def places(self) -> int:
        return len(self._starts)

    def place_at(self, at: QPointF) -> int | None:
        place = int((at.x() - self._room) // self._step()) if self._starts else -1
        return place if at.x() >= self._room and 0 <= place < len(self._starts) else None

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painter.setFont(theme.font(Type.CAPTION))
        self._paint_axes(painter)
        for place, start in enumerate(self._starts):
            self._paint_bar(painter, place, self._bars.get(start, []))
        if self.hasFocus() and self._starts:
            painting.outline(painter, theme.tokens().text, 1)
            painter.drawRoundedRect(QRectF(self._left(self.marked) - 1, _TOP, self._width() + 2, self._height()), 3, 3)

    def open(self, place: int) -> None:
        if self._bucket != "hour":
            start = self._starts[place]
            self.chosen.emit(start, following(self._bucket, start))

    def tip(self, place: int) -> str:
        start = self._starts[place]
        lines = [times.bucket(self._bucket, start)]
        for bar in self._bars.get(start, []):
            name = self._names[bar.project] if bar.project >= 0 else tr("others")
            lines.append(
                tr(
                    "{name}: {time}, {samples}",
                    name=name,
                    time=numbers.duration(bar.seconds),
                    samples=amounts.samples(bar.samples),
                )
            )
        return "\n".join(lines if len(lines) > 1 else [*lines, tr("nothing")])

    def _step(self) -> float:
        return (self.width() - self._room) / max(1, len(self._starts))

    def _width(self) -> float:
        return min(_WIDEST, max(1.0, self._step() - min(6.0, self._step() * 0.3)))

    def _left(self, place: int) -> float:
        return self._room + place * self._step() + (self._step() - self._width()) / 2

    def _height(self) -> float:
        return self.height() - _TOP - _ABOVE_LABELS - theme.line_height(Type.CAPTION)

    def _paint_axes(self, painter: QPainter) -> None:
        now = theme.tokens()
        for seconds, text in self._labels.items():
            height = _TOP + self._height() * (1 - seconds / self._most)
            painter.setPen(QPen(QColor(now.line), 1))
            painter.drawLine(QPointF(self._room, height), QPointF(self.width(), height))
            painter.setPen(QColor(now.muted))
            where = QRectF(0, height - 9, self._room - _BESIDE_LABELS, 18)
            painter.drawText(where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        every = max(1, round(_LABEL / self._step() + 0.49)) if self._starts else 1
        line = theme.line_height(Type.CAPTION)
        for place in range(0, len(self._starts), every):
            where = QRectF(self._left(place), self.height() - line, _LABEL + 20, line)
            label = self._label(self._starts[place])
            if where.left() + painter.fontMetrics().horizontalAdvance(label) <= self.width():
                painter.drawText(where, Qt.AlignmentFlag.AlignLeft, label)

    def _label(self, start: float) -> str:
        local = datetime.fromtimestamp(start).astimezone()
        if self._bucket == "hour":
            return times.hour(local.hour)
        if self._bucket == "month":
            return f"{times.month(local.month)} {local.year % 100:02}"
        return times.short_day(start)

    def _paint_bar(self, painter: QPainter, place: int, stack: Sequence[Bar]) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        bottom, width = _TOP + self._height(), self._width()
        radius = min(3.0, width / 3)
        gap = 1.5 if len(stack) > 1 else 0.0
        for bar in stack:
            height = self._height() * bar.seconds / self._most
            if height <= 0:
                continue
            painter.setBrush(colour(bar.project))
            painter.drawRoundedRect(
                QRectF(self._left(place), bottom - height, width, max(1.0, height - gap)), radius, radius
            )
            bottom -= height


roles.set_role(BarsView, QAccessible.Role.Chart)


def axis_labels(most: float) -> dict[float, str]:
    """The round times up to `most` seconds, in words."""
    unit, name = (3600.0, "h") if most >= 3600 else (60.0, "min")
    ticks = axis.ticks(0.0, most / unit, 4)
    return {tick * unit: numbers.with_unit(ticks.text(tick), name) if tick else "0" for tick in ticks.values}


def colour(project: int) -> QColor:
    """The colour of a project by its place in the list: the first has the accent, all after the last the faintest."""
    now = theme.tokens()
    colours = (now.accent, now.other_1, now.gentle, now.other_3)
    return QColor(colours[project]) if 0 <= project < len(colours) else QColor(now.other_2)


def starts(bucket: Bucket, since: float, until: float) -> list[float]:
    """The start of each bar of a period, UTC seconds."""
    found: list[float] = []
    start = _begin(bucket, since)
    while start < until and len(found) < 1000:
        found.append(start)
        start = following(bucket, start)
    return found


def following(bucket: Bucket, start: float) -> float:
    """The start of the next bar."""
    if bucket == "hour":
        return start + 3600
    local = datetime.fromtimestamp(start).astimezone()
    days = {"day": 1, "week": 7, "month": 32}[bucket]
    there = local.replace(tzinfo=None, hour=12) + timedelta(days=days)
    if bucket == "month":
        there = there.replace(day=1)
    return there.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def _begin(bucket: Bucket, moment: float) -> float:
    if bucket == "hour":
        return moment // 3600 * 3600
    local = datetime.fromtimestamp(moment).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ006 - local
    if bucket == "week":
        local -= timedelta(days=local.weekday())
    return (local.replace(day=1) if bucket == "month" else local).timestamp()

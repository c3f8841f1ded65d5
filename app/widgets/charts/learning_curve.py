"""The learning curve: training loss as a line, evaluations as diamonds, own epochs as accent dots."""

from collections.abc import Sequence
from typing import Literal

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.text import tasks
from app.text.formats import amounts, numbers
from app.text.i18n import tr
from app.widgets import layouts, painting, theme
from app.widgets.basic import Label
from app.widgets.charts import axis
from app.widgets.flow import FlowLayout
from app.widgets.theme import Type
from core.api.project.projects import CurvePoint

Mark = Literal["line", "diamond", "dot"]

LEFT, RIGHT = 46.0, 8.0
"""Pixels beside the curve; what is drawn below it lines up with its epochs."""
_TOP, _BOTTOM = 6.0, 22.0
_DOT = 2.6
_DIAMOND = 4.5


class CurveView(QWidget):
    """Repaints on new points, on resize and on a change of theme."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[CurvePoint] = []
        self._range = (0.0, 1.0)
        self.setMinimumHeight(104)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMouseTracking(True)
        self.set_points([])

    def sizeHint(self) -> QSize:
        return QSize(600, 120)

    def set_points(self, points: Sequence[CurvePoint]) -> None:
        """The whole curve, by epoch."""
        known = axis.value_range(points)
        self.points = list(points) if known else []
        self._range = known or (0.0, 1.0)
        self.setAccessibleName(self._meaning())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painter.setFont(theme.font(Type.CAPTION))
        if not self.points:
            painter.setPen(QColor(theme.tokens().muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, tr("The curve appears after the first epoch."))
            return
        shown = axis.thinned(self.points, max(2, int(self._area().width() / 2)))
        self._paint_axes(painter)
        self._paint_line(painter, shown)
        self._paint_marks(painter, shown)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip and self.points:
            QToolTip.showText(event.globalPos(), self._tip_at(event.pos().x()), self)
            return True
        return super().event(event)

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(LEFT, _TOP, -RIGHT, -_BOTTOM)

    def _epochs(self) -> tuple[int, int]:
        first, last = self.points[0].epoch, self.points[-1].epoch
        return first, max(last, first + 1)

    def _place(self, epoch: float, loss: float) -> QPointF:
        area, (first, last), (lowest, highest) = self._area(), self._epochs(), self._range
        return QPointF(
            area.left() + area.width() * (epoch - first) / (last - first),
            area.bottom() - area.height() * (loss - lowest) / (highest - lowest),
        )

    def _paint_axes(self, painter: QPainter) -> None:
        now, area = theme.tokens(), self._area()
        losses = axis.ticks(*self._range, max(2, int(area.height() / 34)))
        for loss in losses.values:
            height = self._place(self._epochs()[0], loss).y()
            painter.setPen(QPen(QColor(now.line), 1))
            painter.drawLine(QPointF(area.left(), height), QPointF(area.right(), height))
            painter.setPen(QColor(now.muted))
            where = QRectF(0, height - 9, LEFT - 8, 18)
            painter.drawText(where, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, losses.text(loss))
        for epoch in axis.whole_ticks(*self._epochs(), max(2, int(area.width() / 90))):
            middle = self._place(epoch, self._range[0]).x()
            where = QRectF(min(middle - 40, self.width() - 80), area.bottom() + 4, 80, 18)
            side = Qt.AlignmentFlag.AlignRight if middle + 40 > self.width() else Qt.AlignmentFlag.AlignHCenter
            painter.drawText(where, side, numbers.count(epoch))

    def _paint_line(self, painter: QPainter, points: Sequence[CurvePoint]) -> None:
        """The line skips an epoch without a loss."""
        line = QPolygonF([self._place(point.epoch, point.loss) for point in points if point.loss is not None])
        painter.setPen(QPen(QColor(theme.tokens().muted), 1.6))
        painter.drawPolyline(line)

    def _paint_marks(self, painter: QPainter, points: Sequence[CurvePoint]) -> None:
        for point in points:
            if point.evaluation_loss is not None:
                paint_mark(painter, "diamond", self._place(point.epoch, point.evaluation_loss))
        for point in points:
            if point.own_samples and point.loss is not None:
                paint_mark(painter, "dot", self._place(point.epoch, point.loss))

    def _tip_at(self, x: int) -> str:
        first, last = self._epochs()
        wanted = first + (x - self._area().left()) / max(1.0, self._area().width()) * (last - first)
        point = min(self.points, key=lambda point: abs(point.epoch - wanted))
        lines = [tr("Epoch {epoch}", epoch=numbers.count(point.epoch))]
        if point.loss is not None:
            lines.append(tr("training loss {loss}", loss=numbers.decimal(point.loss, 3)))
        if point.evaluation_loss is not None:
            lines.append(tr("evaluation {loss}", loss=numbers.decimal(point.evaluation_loss, 3)))
        if point.figure is not None:
            lines.append(tasks.figure(point.figure))
        if point.own_samples:
            lines.append(tr("yours: {samples}", samples=amounts.samples(point.own_samples)))
        return "\n".join(lines)

    def _meaning(self) -> str:
        losses = [point.loss for point in self.points if point.loss is not None]
        if not losses:
            return tr("Learning curve: nothing yet.")
        return tr(
            "Learning curve: loss {first} at epoch {start}, {last} at epoch {end}; yours: {own}.",
            first=numbers.decimal(losses[0], 2),
            start=self.points[0].epoch,
            last=numbers.decimal(losses[-1], 2),
            end=self.points[-1].epoch,
            own=amounts.epochs(sum(point.own_samples > 0 for point in self.points)),
        )


class Legend(QWidget):
    def __init__(self) -> None:
        super().__init__()
        flow = FlowLayout(spacing=theme.UNIT * 3)
        marks: tuple[tuple[Mark, str], ...] = (
            ("line", tr("training loss")),
            ("diamond", tr("evaluation")),
            ("dot", tr("epochs you took part in")),
        )
        for mark, text in marks:
            entry = QWidget()
            layouts.row(_Sample(mark), Label(text, Type.CAPTION, "muted"), spacing=theme.UNIT + 2, of=entry)
            flow.add(entry)
        self.setLayout(flow)


class _Sample(QWidget):
    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self._mark: Mark = mark
        self.setFixedSize(14, 14)

    def paintEvent(self, _event: QPaintEvent) -> None:
        paint_mark(painting.smooth(self), self._mark, QPointF(7, 7), 1.4)


def paint_mark(painter: QPainter, mark: Mark, at: QPointF, scale: float = 1.0) -> None:
    """One mark of the curve, with its middle at a point."""
    now = theme.tokens()
    painter.setPen(Qt.PenStyle.NoPen)
    match mark:
        case "line":
            painter.setPen(QPen(QColor(now.muted), 1.6))
            painter.drawLine(at - QPointF(6, 0), at + QPointF(6, 0))
        case "diamond":
            far = _DIAMOND * (scale + 1) / 2
            painter.setPen(QPen(QColor(now.card), 1))
            painter.setBrush(QColor(now.other_1))
            offsets = ((0, -far), (far, 0), (0, far), (-far, 0))
            painter.drawPolygon(QPolygonF([at + QPointF(x, y) for x, y in offsets]))
        case "dot":
            painter.setBrush(QColor(now.accent))
            painter.drawEllipse(at, _DOT * scale, _DOT * scale)

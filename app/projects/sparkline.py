"""A learning curve in the space of a word: the loss of the last epochs, own epochs in the accent."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.text.formats import numbers
from app.text.i18n import tr
from app.widgets import painting, theme
from app.widgets.charts import axis
from app.widgets.charts.learning_curve import paint_mark
from core.api.project.projects import CurvePoint


class Sparkline(QWidget):
    """Empty until there are two epochs with a loss."""

    def __init__(self) -> None:
        super().__init__()
        self._points: list[CurvePoint] = []
        self.setFixedSize(132, 30)
        self.show_points([])

    def show_points(self, points: Sequence[CurvePoint]) -> None:
        self._points = [point for point in points if point.loss is not None]
        losses = [point.loss for point in self._points if point.loss is not None]
        self.setAccessibleName(
            tr(
                "Learning curve from {first} to {last}",
                first=numbers.decimal(losses[0], 2),
                last=numbers.decimal(losses[-1], 2),
            )
            if losses
            else tr("No learning curve yet")
        )
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now, area = theme.tokens(), QRectF(self.rect()).adjusted(3, 4, -5, -4)
        painter = painting.smooth(self)
        painter.setPen(QPen(QColor(now.line), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        if len(self._points) < 2:
            return
        shown = axis.thinned(self._points, max(2, int(area.width() / 2)))
        places = _places(shown, area)
        painter.setPen(QPen(QColor(now.other_1), 1.6))
        painter.drawPolyline(QPolygonF(places))
        painter.setPen(QPen(QColor(now.accent), 2.2))
        for point, after, here, there in zip(shown, shown[1:], places, places[1:], strict=False):
            if point.own_samples and after.own_samples:
                painter.drawLine(here, there)
        if shown[-1].own_samples:
            paint_mark(painter, "dot", places[-1])


def _places(points: Sequence[CurvePoint], area: QRectF) -> list[QPointF]:
    losses = [point.loss or 0.0 for point in points]
    lowest, highest = min(losses), max(losses)
    first, last = points[0].epoch, points[-1].epoch
    return [
        QPointF(
            area.left() + area.width() * (point.epoch - first) / max(1, last - first),
            area.bottom() - area.height() * (loss - lowest) / ((highest - lowest) or 1.0),
        )
        for point, loss in zip(points, losses, strict=True)
    ]

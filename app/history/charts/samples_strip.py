"""This volunteer's samples of each epoch, as bars below a learning curve."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.text.formats import amounts
from app.text.i18n import tr
from app.widgets import theme
from app.widgets.charts import axis
from app.widgets.charts.learning_curve import LEFT, RIGHT
from core.api.project.projects import CurvePoint


class SamplesStrip(QWidget):
    """Repaints when it gets points."""

    def __init__(self) -> None:
        super().__init__()
        self._points: Sequence[CurvePoint] = ()
        self.setFixedHeight(34)

    def set_points(self, points: Sequence[CurvePoint]) -> None:
        """The whole curve, by epoch."""
        self._points = points
        own = sum(point.own_samples for point in points)
        self.setAccessibleName(tr("Yours along it: {samples}.", samples=amounts.samples(own)))
        self.setToolTip(self.accessibleName())
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        now, width = theme.tokens(), self.width() - LEFT - RIGHT
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(now.line))
        painter.drawRect(QRectF(LEFT, self.height() - 1, width, 1))
        if not self._points:
            return
        first, last = self._points[0].epoch, max(self._points[-1].epoch, self._points[0].epoch + 1)
        shown = axis.thinned(self._points, max(2, int(width / 2)))
        most = max((point.own_samples for point in shown), default=0) or 1
        bar = max(1.5, min(10.0, width / max(1, len(shown)) - 1))
        painter.setBrush(QColor(now.accent))
        for point in shown:
            if point.own_samples:
                height = max(2.0, (self.height() - 2) * point.own_samples / most)
                left = LEFT + width * (point.epoch - first) / (last - first) - bar / 2
                painter.drawRect(QRectF(left, self.height() - 1 - height, bar, height))

"""What the painted widgets share."""

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPaintDevice, QPainter, QPen, QPolygonF

_ARROW = (QPointF(-4, -2), QPointF(0, 2), QPointF(4, -2))


def smooth(target: QPaintDevice) -> QPainter:
    """A painter with antialiasing."""
    painter = QPainter(target)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def fill(painter: QPainter, colour: QColor | str) -> None:
    """Paint areas in this colour, without an outline, from now on."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colour))


def outline(painter: QPainter, colour: QColor | str, width: float) -> None:
    """Paint outlines in this colour, without an area, from now on."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(colour), width))


def round_pen(colour: str, width: float) -> QPen:
    pen = QPen(QColor(colour), width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pen


def arrow_down(painter: QPainter, middle: QPointF, colour: str, width: float) -> None:
    """Drawn, since not every font has one."""
    painter.setPen(round_pen(colour, width))
    painter.drawPolyline(QPolygonF([middle + offset for offset in _ARROW]))

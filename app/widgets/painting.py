"""What the painted widgets share."""

from collections.abc import Iterable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPaintDevice, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

_ARROW = (QPointF(-4, -2), QPointF(0, 2), QPointF(4, -2))

BESIDE = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip)
"""How a name stands beside its row of a chart, which may be lower than the letters of its script."""
ABOVE = int(Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip)


def smooth(target: QPaintDevice) -> QPainter:
    """A painter with antialiasing."""
    painter = QPainter(target)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter


def mirrored(widget: QWidget) -> QPainter:
    """One for shapes without words, which begin on the right where the language does."""
    painter = smooth(widget)
    mirror(painter, widget)
    return painter


def mirror(painter: QPainter, widget: QWidget) -> None:
    if widget.layoutDirection() is Qt.LayoutDirection.RightToLeft:
        painter.translate(widget.width(), 0)
        painter.scale(-1, 1)


def room_for(names: Iterable[str], font: QFont, least: float) -> float:
    """Pixels for a column of names and the space beside it."""
    return max(least, *(QFontMetricsF(font).horizontalAdvance(name) + 8 for name in names))


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

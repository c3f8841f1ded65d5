"""A project's picture: its own, or a honeycomb that is drawn from its id, always the same for the same project."""

import hashlib
import math

from PySide6.QtCore import QBuffer, QByteArray, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QImageReader, QPainter, QPainterPath, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QWidget

from app.text.i18n import tr
from app.widgets import painting, theme
from core.api.project.projects import Picture

SIDE = 72
MOST_PIXELS = 2048
"""In each direction: a small file may contain a very large picture."""
_MOST_MEGABYTES = 32
"""That a picture may take when it is unpacked."""


class ProjectPicture(QWidget):
    """`show_picture` replaces the honeycomb."""

    def __init__(self, project: str, name: str) -> None:
        super().__init__()
        self._digest = hashlib.sha256(project.encode()).digest()
        self._image: QImage | None = None
        self.setAccessibleName(tr("Picture of {name}", name=name))
        self.setFixedSize(SIDE, SIDE)

    def show_picture(self, picture: Picture | None) -> None:
        """None, or one that cannot be unpacked, leaves the honeycomb."""
        self._image = None if picture is None else unpacked(picture, round(SIDE * self.devicePixelRatioF()))
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), theme.RADIUS_BUTTON, theme.RADIUS_BUTTON)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), QColor(theme.tokens().track))
        if self._image is not None:
            painter.drawImage(self.rect(), self._image)
        else:
            self._paint_honeycomb(painter)

    def _paint_honeycomb(self, painter: QPainter) -> None:
        """Mirrored left and right, so that it reads as a sign of its own."""
        now, radius = theme.tokens(), SIDE / 7.4
        shades = [QColor(now.card), *now.others]
        painter.setPen(Qt.PenStyle.NoPen)
        for row in range(-2, 3):
            for column in range(-2, 3):
                across = (column + (0.5 if row % 2 else 0)) * math.sqrt(3) * radius
                number = (row + 2) * 3 + min(abs(column), abs(column + (row % 2)))
                painter.setBrush(shades[self._digest[number] % len(shades)])
                middle = QPointF(SIDE / 2 + across, SIDE / 2 + row * 1.5 * radius)
                painter.drawPolygon(_hexagon(middle, radius * 0.92))


def unpacked(picture: Picture, side: int) -> QImage | None:
    """The middle of a picture as a square of `side` pixels; None if it is damaged or too large."""
    image = opened(picture)
    if image is None:
        return None
    scaled = image.scaled(
        side, side, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    )
    return scaled.copy((scaled.width() - side) // 2, (scaled.height() - side) // 2, side, side)


def opened(picture: Picture) -> QImage | None:
    """A picture; None if it is damaged or too large.

    Only the named format is tried, and the size is read before anything is unpacked.
    """
    QImageReader.setAllocationLimit(_MOST_MEGABYTES)
    buffer = QBuffer()
    buffer.setData(QByteArray(picture.data))
    buffer.open(QBuffer.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(picture.format.encode()))
    size = reader.size()
    if not 0 < max(size.width(), size.height()) <= MOST_PIXELS or (image := reader.read()).isNull():
        return None
    return image


def _hexagon(middle: QPointF, radius: float) -> QPolygonF:
    corners = (math.radians(60 * corner - 90) for corner in range(6))
    return QPolygonF([middle + QPointF(math.cos(angle), math.sin(angle)) * radius for angle in corners])

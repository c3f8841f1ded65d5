"""The epoch as a ring: the batch that all peers fill together, this volunteer's share first and in the accent.

It is painted when a snapshot brings something new, and on a timer only while the session gets ready, to show that
something is going on. Only the number of the other peers and their sum are known, so their part is cut into equal
pieces.
"""

import math

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QConicalGradient,
    QFont,
    QFontMetrics,
    QHideEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QStyle, QWidget

from app.text import steps
from app.text.formats import numbers
from app.text.formats.sentences import closed
from app.text.i18n import tr
from app.widgets import painting, theme
from app.widgets.theme import Type
from core.api.snapshot import Progress

_THICKNESS = 22.0
_ROOM = 8.0
"""Pixels between the ring and the words in it, on both sides together."""
_LINE = 1.35
"""Height of a line, with the space that a font keeps above and below, of the room for its letters."""
_GAP_DEGREES = 1.4
_MOST_PIECES = 24
_TOP = 90.0
_TURN_EVERY_MS = 80
_TURN_DEGREES = 10.0
_TURNING_PIECE = 50.0


class EpochRing(QWidget):
    """Number of the epoch in the middle, the batch around it."""

    def __init__(self) -> None:
        super().__init__()
        self._progress = Progress()
        self._rest = tr("not in a batch")
        self._busy = False
        self._turned = 0.0
        self._turning = QTimer(self, interval=_TURN_EVERY_MS)
        self._turning.timeout.connect(self._turn)
        self.set_diameter(232)

    def set_diameter(self, pixels: int) -> None:
        self.setFixedSize(pixels, pixels)

    def show_progress(self, progress: Progress, rest: str = "", busy: bool = False) -> None:
        """`rest`: why the batch does not move; it stays where it was last seen, and is grey.

        `busy`: the session is on the way into the run, and a piece turns round until it is there.
        """
        if (progress, rest, busy) != (self._progress, self._rest, self._busy):
            self._progress, self._rest, self._busy = progress, rest, busy
            known = steps.ring_meaning(progress) if self._is_known else tr("This computer works on no epoch.")
            meaning = f"{closed(rest.capitalize())} {known}" if rest and self._is_known else known
            self._turn_if_seen()
            self.setAccessibleName(meaning)
            self.setToolTip(meaning)
            self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._turn_if_seen()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._turning.stop()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = painting.smooth(self)
        half = _THICKNESS / 2 + 1
        ring = QRectF(self.rect()).adjusted(half, half, -half, -half)
        self._arc(painter, ring, QColor(theme.tokens().track), 0, 360)
        if self._is_known:
            self._paint_batch(painter, ring)
        elif self._busy:
            self._arc(painter, ring, QColor(theme.tokens().accent), self._turned, _TURNING_PIECE)
        self._paint_words(painter)

    @property
    def _is_known(self) -> bool:
        """There is a batch to show, of now or of the last session."""
        return not self._busy and self._progress.target_batch_size > 0

    def _paint_batch(self, painter: QPainter, ring: QRectF) -> None:
        match "accumulating" if self._rest else self._progress.phase:
            case "accumulating":
                self._paint_shares(painter, ring, _GAP_DEGREES)
            case "finding_group":
                self._paint_shares(painter, ring, _GAP_DEGREES)
                self._paint_search(painter, ring)
            case "averaging":
                self._paint_mixture(painter, ring)
            case "updating":
                self._arc(painter, ring, QColor(theme.tokens().accent), 0, 360)

    def _paint_shares(self, painter: QPainter, ring: QRectF, gap: float) -> None:
        """Own share, then the others, clockwise from the top."""
        progress = self._progress
        target = max(1, progress.target_batch_size, progress.epoch_samples)
        full = progress.epoch_samples if progress.phase != "accumulating" else target
        scale = 360 / max(1, full)
        own = min(progress.own_epoch_samples, progress.epoch_samples) * scale
        others = (progress.epoch_samples - progress.own_epoch_samples) * scale
        now = theme.tokens()
        if own > 0:
            self._arc(painter, ring, QColor(now.other_1 if self._rest else now.accent), 0, max(own - gap, 1.0))
        pieces = max(1, min(progress.peers - 1, _MOST_PIECES, int(others / (gap * 3))))
        shades = (QColor(now.other_3),) if self._rest else now.others
        for number in range(pieces if others > 0 else 0):
            piece = others / pieces
            self._arc(painter, ring, shades[number % len(shades)], own + number * piece, max(piece - gap, 0.5))

    def _paint_search(self, painter: QPainter, ring: QRectF) -> None:
        """A dotted circle inside: the peers look for each other."""
        pen = painting.round_pen(theme.tokens().accent, 3)
        pen.setDashPattern([0.1, 3.2])
        painter.setPen(pen)
        inside = _THICKNESS / 2 + 9
        painter.drawEllipse(ring.adjusted(inside, inside, -inside, -inside))

    def _paint_mixture(self, painter: QPainter, ring: QRectF) -> None:
        """What belonged to each becomes everyone's: the shares run into each other."""
        now = theme.tokens()
        mixture = QConicalGradient(ring.center(), _TOP)
        for place, colour in ((0.0, now.accent), (0.25, now.other_1), (0.5, now.accent), (0.75, now.other_1)):
            mixture.setColorAt(place, QColor(colour))
        mixture.setColorAt(1.0, QColor(now.accent))
        pen = QPen(mixture, _THICKNESS)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawEllipse(ring)

    def _paint_words(self, painter: QPainter) -> None:
        now = theme.tokens()
        height = self.height()
        number = numbers.count(self._progress.epoch) if self._is_known or self._progress.epoch else "–"
        line = tr("getting ready") if self._busy else self._rest or steps.ring_line(self._progress)
        for kind, colour, text, top in (
            (Type.RING, now.muted if self._busy or self._rest else now.text, number, 0.29),
            (Type.LABEL, now.muted, tr("epoch"), 0.47),
            (Type.CAPTION, now.muted, line, 0.59),
        ):
            where = QRectF(0, height * top, self.width(), height * 0.2 if kind is Type.RING else height * 0.12)
            font = theme.font(kind)
            across = self._room_at(where.center().y(), QFontMetrics(font).capHeight())
            painter.setFont(_fitting(font, text, across, _LINE * where.height()))
            painter.setPen(QColor(colour))
            painter.drawText(where, Qt.AlignmentFlag.AlignCenter, text)

    def _room_at(self, middle: float, letters: float) -> float:
        """How wide the hole of the ring is for a line of text with its middle there and letters of this height."""
        radius = self.height() / 2 - _THICKNESS - _ROOM / 2
        away = abs(middle - self.height() / 2) + letters / 2
        return 2 * math.sqrt(max(0.0, radius**2 - away**2))

    def _turn_if_seen(self) -> None:
        """If the desktop wants no animations, the piece does not move."""
        animated = self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0
        if self._busy and animated and self.isVisible():
            self._turning.start()
        else:
            self._turning.stop()

    def _turn(self) -> None:
        self._turned = (self._turned + _TURN_DEGREES) % 360
        self.update()

    def _arc(self, painter: QPainter, ring: QRectF, colour: QColor, start: float, span: float) -> None:
        """From `start` degrees after twelve o'clock, clockwise."""
        pen = QPen(colour, _THICKNESS)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawArc(ring, round((_TOP - start) * 16), round(-span * 16))


def _fitting(font: QFont, text: str, width: float, height: float) -> QFont:
    """Smaller if the text is wider or higher than the room for it."""
    metrics = QFontMetrics(font)
    share = min(width / max(1, metrics.horizontalAdvance(text)), height / metrics.height())
    if share < 1:
        font.setPixelSize(int(font.pixelSize() * share))
    return font

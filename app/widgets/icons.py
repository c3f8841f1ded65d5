"""The program's pictures, from resources/icons."""

from functools import cache
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.text.status import Tone

_FOLDER = Path(__file__).resolve().parents[2] / "resources" / "icons"
LOGO_FILE = _FOLDER / "logo.svg"
_SIZES = (16, 22, 24, 32, 48, 64)
"""Sizes that panels and window managers request; each is drawn, so that edges stay sharp."""


def logo() -> QIcon:
    """The program itself."""
    return _icon("logo")


def tray(tone: Tone) -> QIcon:
    """The state, at a glance."""
    return _icon(f"tray-{tone}")


def logo_picture(size: int, ratio: float) -> QPixmap:
    """The logo as a picture of `size` logical pixels."""
    picture = _draw("logo", round(size * ratio))
    picture.setDevicePixelRatio(ratio)
    return picture


@cache
def _icon(name: str) -> QIcon:
    icon = QIcon()
    for size in _SIZES:
        icon.addPixmap(_draw(name, size))
    return icon


def _draw(name: str, size: int) -> QPixmap:
    picture = QPixmap(QSize(size, size))
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    QSvgRenderer(str(_FOLDER / f"{name}.svg")).render(painter)
    painter.end()
    return picture

"""The chart of hours by project."""

from datetime import datetime

import msgspec
import pytest
from PySide6.QtGui import QColor, QFontMetrics, QImage
from pytestqt.qtbot import QtBot

from app.history.charts.bars import BarsView
from app.text.formats import times
from app.widgets import theme
from app.widgets.theme import Type
from tests.app.history.record import OVERVIEW

MAY = datetime(2026, 5, 1).timestamp()  # noqa: DTZ001 - local, as the page's


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_dates_below_the_bars_are_whole(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    """Also the tail of the y in May."""
    monkeypatch.setattr(theme, "_scale", scale)
    view = BarsView()
    qtbot.addWidget(view)
    view.show_overview(msgspec.structs.replace(OVERVIEW, since=MAY, until=MAY + 7 * 86_400, bars=()))
    view.resize(600, 170)
    ink = QFontMetrics(theme.font(Type.CAPTION)).tightBoundingRect(times.short_day(MAY))
    picture = view.grab().toImage()
    assert abs(rows_with(QColor(theme.tokens().muted), picture, view.height() - 24) - ink.height()) <= 1


def rows_with(colour: QColor, picture: QImage, top: int) -> int:
    """How many rows, from `top` down, have a dot in about this colour; the scale's own labels are left of them."""

    def is_ink(x: int, y: int) -> bool:
        return abs(picture.pixelColor(x, y).lightness() - colour.lightness()) < 60

    return sum(any(is_ink(x, y) for x in range(90, picture.width())) for y in range(top, picture.height()))

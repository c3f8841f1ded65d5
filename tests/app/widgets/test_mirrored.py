"""Layout from right to left: painted widgets and pointers follow it."""

from collections.abc import Iterator

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.desktop import language
from app.limits.slider import LimitSlider
from app.text import i18n
from app.widgets.controls.combo import Combo
from app.widgets.controls.switch import Switch
from app.widgets.flow import FlowLayout


@pytest.fixture
def right_to_left(qapp: QApplication) -> Iterator[None]:
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


def test_the_direction_is_the_language_s(
    qapp: QApplication, right_to_left: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    language.apply(qapp, "en")
    assert qapp.layoutDirection() is Qt.LayoutDirection.LeftToRight
    monkeypatch.setattr(i18n, "use", lambda _: None)
    language.apply(qapp, "ar")
    assert qapp.layoutDirection() is Qt.LayoutDirection.RightToLeft
    language.apply(qapp, "en")


def picture(widget: QWidget, direction: Qt.LayoutDirection) -> np.ndarray:
    """Pixels: row, column, channel."""
    widget.setLayoutDirection(direction)
    drawn = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return np.frombuffer(drawn.constBits(), np.uint8).reshape(drawn.height(), drawn.width(), 4).astype(float)


@pytest.mark.parametrize("kind", [Switch, LimitSlider])
def test_what_is_painted_without_words_is_mirrored(kind: type[Switch | LimitSlider], qtbot: QtBot) -> None:
    widget = kind()
    qtbot.addWidget(widget)
    if isinstance(widget, Switch):
        widget.setChecked(True)
    else:
        widget.setRange(0, 10)
        widget.setValue(3)
    widget.resize(widget.sizeHint())
    plain = picture(widget, Qt.LayoutDirection.LeftToRight)
    other = picture(widget, Qt.LayoutDirection.RightToLeft)
    # Edges are smoothed the other way round.
    assert np.abs(other - plain[:, ::-1]).mean() < 1
    assert np.abs(other - plain).mean() > 5


def test_a_click_takes_the_handle_of_a_mirrored_slider_there(right_to_left: None, qtbot: QtBot) -> None:
    slider = LimitSlider()
    qtbot.addWidget(slider)
    slider.setRange(0, 10)
    slider.resize(218, 26)
    QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(218 - 9 - 40, 13))
    assert slider.value() == 2


def test_the_arrow_of_a_box_is_not_on_its_words(right_to_left: None, qtbot: QtBot) -> None:
    box = Combo({1: ""})
    qtbot.addWidget(box)
    box.resize(170, 38)
    drawn = box.grab().toImage()
    middle = [drawn.pixelColor(x, 19) for x in range(10, 160)]
    assert len({color.rgb() for color in middle[:20]}) > 1
    assert len({color.rgb() for color in middle[-20:]}) == 1


@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_a_row_without_room_goes_on_below(direction: Qt.LayoutDirection, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setLayoutDirection(direction)
    boxes = [QWidget() for _ in range(3)]
    for box in boxes:
        box.setFixedSize(100, 30)
    flow = FlowLayout(*boxes, spacing=10)
    window.setLayout(flow)
    assert (flow.sizeHint().width(), flow.heightForWidth(320), flow.heightForWidth(319)) == (320, 30, 70)
    flow.setGeometry(QRect(0, 0, 250, 70))
    lefts = [0, 110, 0] if direction is Qt.LayoutDirection.LeftToRight else [150, 40, 150]
    assert [(box.x(), box.y()) for box in boxes] == list(zip(lefts, (0, 0, 40), strict=True))
    boxes[1].hide()
    assert flow.heightForWidth(250) == 30

"""A flow layout's items live as long as the layout."""

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.widgets.flow import FlowLayout


class Window(QWidget):
    """One of Python's own classes, as all of the app's windows."""


def test_a_window_on_its_way_out_can_still_measure_its_rows(qtbot: QtBot) -> None:
    window, page = Window(), Window()
    column = QVBoxLayout(page)
    flow = FlowLayout(QLabel("Nights"), QLabel("Weekends"), spacing=4)
    column.addLayout(flow)
    QVBoxLayout(window).addWidget(page)
    height = flow.heightForWidth(1000)
    measured: list[int] = []
    window.destroyed.connect(lambda: measured.append(flow.heightForWidth(1000)))
    window.deleteLater()
    qtbot.waitUntil(lambda: bool(measured))
    assert measured == [height]


def test_a_widget_that_ends_leaves_its_row(qtbot: QtBot) -> None:
    window = Window()
    qtbot.addWidget(window)
    labels = [QLabel(text) for text in ("Nights", "Weekends")]
    flow = FlowLayout(*labels, spacing=4)
    window.setLayout(flow)
    labels[0].deleteLater()
    qtbot.waitUntil(lambda: flow.count() == 1)
    assert flow.sizeHint() == labels[1].sizeHint()

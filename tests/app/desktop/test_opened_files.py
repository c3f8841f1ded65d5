"""What macOS sends when a link or file is opened with Idlehive: Qt makes the same event of it everywhere."""

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.desktop.opened_files import OpenedFiles


@pytest.mark.parametrize(
    ("event", "project"),
    [
        (lambda: QFileOpenEvent(QUrl("idlehive:https://example.org/bees.json")), ["https://example.org/bees.json"]),
        (lambda: QFileOpenEvent("/home/me/bees.idlehive"), ["/home/me/bees.idlehive"]),
        (lambda: QFileOpenEvent(QUrl("idlehive:javascript:alert(1)")), []),
    ],
)
def test_a_link_and_a_file_are_offered_and_nothing_else(qtbot: QtBot, event: object, project: list[str]) -> None:
    application, opened = QApplication.instance(), list[str]()
    assert application
    watching = OpenedFiles(opened.append)
    application.installEventFilter(watching)
    QApplication.sendEvent(application, event())  # type: ignore[operator]
    application.removeEventFilter(watching)
    assert opened == project

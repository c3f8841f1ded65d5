"""The limits page, open in a window of the scripted engine."""

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.limits.page import LimitsPage
from app.window.main_window import MainWindow
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen


@pytest.fixture
def limits(engine: ScriptedEngine) -> Chosen:
    return Chosen(engine)


@pytest.fixture
def page(window: MainWindow, limits: Chosen, qtbot: QtBot) -> LimitsPage:
    window.open_page(3)
    opened = window.page(3)
    assert isinstance(opened, LimitsPage)
    qtbot.waitUntil(lambda: "cache_size" in opened.rows)
    QApplication.processEvents()  # what is pressed must not move before it is let go
    return opened

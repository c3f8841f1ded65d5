"""The window with something on every page."""

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink
from app.window.main_window import MainWindow
from tests.app.full_engine import OFFER, fill
from tests.app.snapshots import CONTRIBUTING
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def full(window: MainWindow, engine: ScriptedEngine, link: EngineLink, qtbot: QtBot) -> MainWindow:
    """The window with something on every page."""
    fill(engine, replace(CONTRIBUTING, release=OFFER))
    qtbot.waitUntil(lambda: link.snapshot is not None and link.snapshot.gpu is not None)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    return window

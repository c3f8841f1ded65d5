"""The schedule page, open in a window of the scripted engine."""

import pytest
from pytestqt.qtbot import QtBot

from app.schedule.page import SchedulePage
from app.window.main_window import MainWindow
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen

LIMITS = (
    ("processor_share", 80),
    ("gentle.processor_share", 30),
    ("upload_limit", 1_000_000),
    ("gentle.upload_limit", 250_000),
)


@pytest.fixture
def chosen(engine: ScriptedEngine) -> Chosen:
    known = Chosen(engine)
    for name, value in LIMITS:
        known.change(name, value)
    return known


@pytest.fixture
def page(window: MainWindow, chosen: Chosen, engine: ScriptedEngine, qtbot: QtBot) -> SchedulePage:
    window.open_page(2)
    opened = window.page(2)
    assert isinstance(opened, SchedulePage)
    qtbot.waitUntil(opened.presets["always"].isChecked)
    qtbot.waitUntil(opened.grid.isEnabled)
    return opened

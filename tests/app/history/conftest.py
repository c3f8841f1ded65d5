"""The history page, open in a window of the scripted engine."""

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.history.page import HistoryPage
from app.window.main_window import MainWindow
from core.api.project.projects import CurvePoint, GetCurve
from core.api.record.record import (
    GetHabits,
    GetOverview,
    GetSessions,
)
from tests.app.history.record import NIGHTS, OVERVIEW, SINCE, session
from tests.fakes.scripted_engine import ScriptedEngine


@pytest.fixture
def page(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> HistoryPage:
    engine.answer(GetOverview, lambda ask: msgspec.structs.replace(OVERVIEW, year=ask.year or 2026))
    engine.answer(GetHabits, NIGHTS)
    engine.answer(GetSessions, lambda ask: [] if ask.before else [session(2, SINCE + 60), session(1, SINCE, None)])
    engine.answer(GetCurve, [CurvePoint(1, 4.0, None, 50, 3), CurvePoint(2, 3.0, None, 0, 3)])
    window.open_named("history")
    [opened] = window.findChildren(HistoryPage)
    qtbot.waitUntil(lambda: opened.overview is not None and bool(opened.sessions.table.sessions.sessions))
    return opened

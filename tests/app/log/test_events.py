"""The events of the log page: sentences, by project, to copy; the technical log is a click further."""

from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.log.page import LogPage
from app.window.main_window import MainWindow
from core.api.message import Message
from core.api.record.events import GetEvents, PastEvent
from core.api.snapshot import Snapshot
from tests.app.snapshots import CONTRIBUTING
from tests.fakes.scripted_engine import ScriptedEngine

BUSY = PastEvent("state", Message("processor_busy", {"share": 0.9, "limit": 0.75}), 1e9, "birds", "Birdsong")
FAILED = PastEvent("session_failed", Message("peers_not_reached"), 1e9 - 60, "words", "Words")
JOINED = PastEvent("joined", Message("joined", {"name": "Words"}), 1e9 - 120, "words", "Words")


@pytest.fixture
def page(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> Iterator[LogPage]:
    engine.answer(GetEvents, [BUSY, FAILED, JOINED])
    window.open_named("log")
    opened = window.findChild(LogPage)
    assert opened is not None
    qtbot.waitUntil(lambda: "busy" in opened.events.shown)
    yield opened
    window.open_named("home")


def test_events_are_sentences_the_newest_first(page: LogPage) -> None:
    first, second, third = page.events.shown.splitlines()
    assert first.endswith("  Birdsong  The processor is busy: waiting.")
    assert "  Words  The session failed: " in second
    assert "2001" in third
    assert not page.view.isVisible()


def test_events_of_one_project_are_shown_and_copied(page: LogPage) -> None:
    page.events.project.setCurrentIndex(page.events.project.findText("Words"))
    assert len(page.events.shown.splitlines()) == 2
    page.events.copy.click()
    assert QGuiApplication.clipboard().text() == page.events.shown


def test_what_is_selected_is_copied_alone(page: LogPage) -> None:
    cursor = page.events.view.textCursor()
    cursor.select(cursor.SelectionType.LineUnderCursor)
    page.events.view.setTextCursor(cursor)
    page.events.copy.click()
    assert QGuiApplication.clipboard().text() == page.events.shown.splitlines()[0]


def test_an_event_does_not_move_the_lines_that_are_read(page: LogPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    events, view = [replace(BUSY, at=1e9 + minute * 60) for minute in range(200)], page.events.view
    page.events.show_events(events[100::-1])
    bar = view.verticalScrollBar()
    bar.setValue(40)
    read = view.firstVisibleBlock().text()
    page.events.show_events(events[103::-1])
    assert view.firstVisibleBlock().text() == read
    bar.setValue(0)
    page.events.show_events(events[::-1])
    assert bar.value() == 0


def test_the_technical_log_is_one_click_further(page: LogPage) -> None:
    page.technical.click()
    assert page.view.isVisible()
    assert not page.events.isVisible()


def test_what_happens_now_is_added_at_once(
    page: LogPage, engine: ScriptedEngine, show: Callable[[Snapshot], None], qtbot: QtBot
) -> None:
    began = PastEvent("state", Message("contribution_began"), 1e9 + 60, "birds", "Birdsong")
    engine.answer(GetEvents, [began, BUSY])
    show(CONTRIBUTING)
    qtbot.waitUntil(lambda: page.events.shown.splitlines()[0].endswith("Birdsong  Contributing."))

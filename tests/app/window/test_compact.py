"""The compact window: what goes on, and the button to pause it."""

import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink, Link
from app.window.compact import CompactWindow
from core.api.intent import Pause, Resume
from core.api.protocol import Command
from core.api.snapshot import Snapshot
from tests.app.page_checks import cut_off, nameless
from tests.app.snapshots import CONTRIBUTING, SILENT, paused
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]


@pytest.fixture
def performed() -> list[Command]:
    return []


@pytest.fixture
def compact(link: EngineLink, performed: list[Command], qtbot: QtBot) -> Iterator[CompactWindow]:
    window = CompactWindow(link, performed.append)
    window.show()
    yield window
    window.close()
    window.deleteLater()


def test_it_says_what_goes_on_and_pauses(compact: CompactWindow, show: Show, performed: list[Command]) -> None:
    show(CONTRIBUTING)
    assert compact.state.text() == "Contributing to Birdsong"
    assert compact.rates.text().replace(SPACE, " ") == "152 samples/s, 2.1 Mbit/s up, 3.4 Mbit/s down"
    compact.button.main.click()
    show(paused(time.time() + 42 * 60))
    assert compact.rates.text().replace(SPACE, " ") == "42 min left"
    compact.button.main.click()
    assert performed == [Pause(), Resume()]


def test_it_stays_in_front_is_whole_and_named(compact: CompactWindow, show: Show, qtbot: QtBot) -> None:
    assert compact.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
    show(CONTRIBUTING)
    assert (cut_off(compact), nameless(compact)) == ([], [])
    show(replace(CONTRIBUTING, project_name="Voices of all birds of Europe, by day and by night, at sea and on land"))
    qtbot.waitUntil(lambda: cut_off(compact) == [])


def test_escape_leads_back_and_the_key_to_quit_quits(compact: CompactWindow, qtbot: QtBot) -> None:
    compact.activateWindow()
    qtbot.waitUntil(compact.isActiveWindow)
    with qtbot.waitSignal(compact.left):
        QTest.keyClick(compact, Qt.Key.Key_Escape)
    with qtbot.waitSignal(compact.quit_asked):
        QTest.keyClick(compact, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)


def test_without_an_engine_it_says_so(
    compact: CompactWindow, show: Show, link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    engine.stop()
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    assert compact.state.text() == "The engine has ended."
    assert not compact.button.main.isEnabled()


def test_it_says_that_there_is_no_news(compact: CompactWindow, show: Show) -> None:
    show(SILENT)
    assert compact.state.text().startswith("No news from the session since ")
    assert compact.rates.text() == ""

"""Closing, quitting, and a line above the pages when the engine needs a hand."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink, Link
from app.widgets.basic import Button, Notice
from app.window.main_window import MainWindow
from app.window.quit import QuitDialog
from core.api.intent import Pause
from core.api.protocol import Quit
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING, IDLE
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]


@pytest.fixture
def quit_dialog(window: MainWindow, link: EngineLink, profile: Profile) -> Iterator[QuitDialog]:
    asked = QuitDialog(link, window, Settings(profile))
    yield asked
    for box in window.findChildren(QMessageBox):
        box.close()


@pytest.fixture
def tray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that the desktop has a tray: the offscreen platform has none."""
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))


def press(box: QMessageBox, text: str) -> None:
    next(button for button in box.findChildren(Button) if button.text() == text).click()


def question(window: MainWindow) -> QMessageBox | None:
    return next((box for box in window.findChildren(QMessageBox) if box.isVisible()), None)


def asked(quit_dialog: QuitDialog, window: MainWindow) -> QMessageBox:
    """The dialog, as it asks whether to stop contributing."""
    quit_dialog.ask()
    box = question(window)
    assert box
    return box


def test_with_no_tray_closing_minimises(window: MainWindow) -> None:
    window.close()
    assert window.isMinimized()
    assert window.isVisible()


def test_the_first_close_to_the_tray_explains_itself_and_the_second_does_not(
    window: MainWindow, tray: None, profile: Profile
) -> None:
    window.close()
    box = question(window)
    assert box
    assert "tray" in box.informativeText()
    assert window.isVisible()
    press(box, "Got it")
    assert not window.isVisible()
    window.bring_up()
    window.close()
    assert not window.isVisible()
    assert not Settings(profile).first_time("tray")


def test_the_pages_have_shortcuts(window: MainWindow, show: Show, qtbot: QtBot) -> None:
    show(IDLE)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window._stack.currentWidget() is not window.home)
    assert window._stack.currentWidget() is window.page(1)
    QTest.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: window._stack.currentWidget() is window.home)
    assert QKeySequence("Ctrl+2") in {button.shortcut() for button in window.findChildren(Button)}


def test_a_gone_engine_offers_a_restart_above_every_page(
    window: MainWindow, link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    window.open_page(1)
    engine.stop()
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    notice = next(notice for notice in window.findChildren(Notice) if notice.isVisible())
    assert notice.label.text() == "The engine has ended."
    engine.start()
    notice.action.click()
    qtbot.waitUntil(lambda: link.state is Link.UP)
    assert not notice.isVisible()


def test_the_place_on_the_screen_is_remembered(window: MainWindow, link: EngineLink, profile: Profile) -> None:
    window.resize(870, 590)
    window.close()
    again = MainWindow(link, Settings(profile))
    assert again.height() == 590
    again.deleteLater()


def test_quitting_with_nothing_running_ends_both_silently(
    window: MainWindow, quit_dialog: QuitDialog, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(IDLE)
    with qtbot.waitSignal(quit_dialog.done):
        quit_dialog.ask()
    assert question(window) is None
    engine.wait_for(Quit)


def test_quitting_while_contributing_ends_everything_after_one_sentence(
    window: MainWindow, quit_dialog: QuitDialog, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    box = asked(quit_dialog, window)
    assert box.text() == "Quitting ends contributing too."
    with qtbot.waitSignals([quit_dialog.leaving, quit_dialog.done]):
        press(box, "Quit")
    engine.wait_for(Quit)


def test_the_other_button_keeps_it_running_in_the_tray(
    window: MainWindow, quit_dialog: QuitDialog, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    box = asked(quit_dialog, window)
    with qtbot.waitSignal(quit_dialog.kept):
        press(box, "Keep running in the tray")
    assert engine.received(Quit) == []


@pytest.mark.parametrize("answer", ["Quit", "Keep running in the tray"])
def test_the_answer_can_be_remembered(
    quit_dialog: QuitDialog, show: Show, profile: Profile, answer: str, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    window = quit_dialog.parent()
    assert isinstance(window, MainWindow)
    box = asked(quit_dialog, window)
    box.checkBox().setChecked(True)
    ends = answer == "Quit"
    signal = quit_dialog.done if ends else quit_dialog.kept
    with qtbot.waitSignal(signal):
        press(box, answer)
    assert Settings(profile).quitting == ("end" if ends else "tray")
    show(CONTRIBUTING)
    with qtbot.waitSignal(signal):
        quit_dialog.ask()
    assert question(window) is None


def test_escape_at_the_question_changes_nothing(
    window: MainWindow, quit_dialog: QuitDialog, show: Show, engine: ScriptedEngine, link: EngineLink
) -> None:
    show(CONTRIBUTING)
    ended: list[bool] = []
    quit_dialog.done.connect(lambda: ended.append(True))
    box = asked(quit_dialog, window)
    QTest.keyClick(box, Qt.Key.Key_Escape)
    link.ask(Pause())
    engine.wait_for(Pause)
    assert engine.received(Quit) == []
    assert ended == []
    assert question(window) is None


def test_a_signal_leaves_a_running_session_alone_and_ends_an_idle_engine(
    quit_dialog: QuitDialog, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    with qtbot.waitSignal(quit_dialog.done):
        quit_dialog.end_after_signal()
    assert engine.received(Quit) == []
    show(IDLE)
    with qtbot.waitSignal(quit_dialog.done):
        quit_dialog.end_after_signal()
    engine.wait_for(Quit)


def test_the_ring_around_the_focus_appears_with_the_first_tab(
    window: MainWindow, qapp: QApplication, show: Show, qtbot: QtBot
) -> None:
    from app.window.focus_ring import FocusRing

    ring = FocusRing(qapp)
    show(CONTRIBUTING)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert not ring.isVisible()
    QTest.keyClick(window.home.button.main, Qt.Key.Key_Tab)
    qtbot.waitUntil(ring.isVisible)
    focused = qapp.focusWidget()
    assert focused is not None
    holder = ring.parentWidget()
    assert holder is not None
    target = QRect(focused.mapTo(holder, QPoint(0, 0)), focused.size())
    assert ring.geometry() == target.adjusted(-4, -4, 4, 4)
    assert holder.rect().contains(ring.geometry())
    ring.deleteLater()

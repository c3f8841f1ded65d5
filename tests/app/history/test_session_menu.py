"""The menu of a session's row: opened by the real event, with what it copies and filters."""

import msgspec
from PySide6.QtCore import QItemSelectionModel, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from app.history.page import HistoryPage
from app.history.sessions_table import SessionsTable, cells
from core.api.record.record import GetSessions
from tests.app.history.record import LEFT, OVERVIEW, SINCE, session
from tests.fakes.scripted_engine import ScriptedEngine

NEWEST, RUNNING = session(2, SINCE + 60), session(1, SINCE, None)


def right_click(table: SessionsTable, row: int, qtbot: QtBot) -> QMenu:
    at = table.visualRect(table.sessions.index(row, 1)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.RightButton, pos=at)
    click = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, table.viewport().mapToGlobal(at))
    QApplication.sendEvent(table.viewport(), click)
    qtbot.waitUntil(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    opened = QApplication.activePopupWidget()
    assert isinstance(opened, QMenu)
    return opened


def offered(menu: QMenu) -> list[str]:
    return [action.text() for action in menu.actions() if action.text()]


def choose(menu: QMenu, text: str) -> None:
    action = next(action for action in menu.actions() if action.text() == text)
    QTest.mouseClick(menu, LEFT, pos=menu.actionGeometry(action).center())


def test_a_right_click_on_a_session_shows_its_project_alone(
    page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page.resize(page.width(), 2000)
    qtbot.waitUntil(lambda: page.sessions._projects.name_of("b") == "Bees")
    asked = len(engine.received(GetSessions))
    menu = right_click(page.sessions.table, 0, qtbot)
    assert offered(menu)[:2] == ["Copy", "Only “Bees”"]
    choose(menu, "Only “Bees”")
    assert engine.wait_for(GetSessions, asked + 1).project == "b"
    assert page.sessions._projects.text() == "Bees"
    qtbot.waitUntil(lambda: QApplication.activePopupWidget() is None)
    assert "Only “Bees”" not in offered(page.sessions.menu(NEWEST))


def test_sessions_of_one_ending_alone_are_offered_once_a_session_has_ended(page: HistoryPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: page.sessions._endings.name_of("paused") is not None)
    assert "Only “paused”" in offered(page.sessions.menu(NEWEST))
    assert "Only “paused”" not in offered(page.sessions.menu(RUNNING))


def test_selected_sessions_are_copied_by_menu_and_key_as_rows_of_a_table(page: HistoryPage, qtbot: QtBot) -> None:
    table = page.sessions.table
    rows = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for row in (1, 0):
        table.selectionModel().select(table.sessions.index(row, 0), rows)
    page.sessions.copy.trigger()
    wanted = "\n".join("\t".join(cells(each)) for each in table.sessions.sessions)
    assert QGuiApplication.clipboard().text() == wanted
    assert msgspec.structs.astuple(table.sessions.sessions[0])[0] == NEWEST.id

    table.setFocus()
    table.selectRow(1)
    QTest.keySequence(table, "Ctrl+C")
    assert QGuiApplication.clipboard().text() == "\t".join(cells(RUNNING))


def test_below_the_last_row_there_is_no_menu(page: HistoryPage) -> None:
    page.sessions.table.customContextMenuRequested.emit(QPoint(5, page.sessions.table.height() - 5))
    assert QApplication.activePopupWidget() is None


def test_a_name_is_shown_as_it_is(page: HistoryPage, qtbot: QtBot) -> None:
    """Qt takes a single & for the shortcut of the letter that follows."""
    both = tuple(msgspec.structs.replace(project, name=f"{project.name} & co") for project in OVERVIEW.projects)
    page.show_overview(msgspec.structs.replace(OVERVIEW, projects=both))
    qtbot.waitUntil(lambda: page.sessions._projects.name_of("b") == "Bees & co")
    assert "Only “Bees && co”" in offered(page.sessions.menu(NEWEST))
    page.sessions._projects.choose("Bees & co")
    assert page.sessions._projects.text() == "Bees && co"
    assert "Bees & co" in page.sessions._projects.accessibleName()

"""The order of preference: moved with keys and by dragging, and why another project runs first."""

import time
from functools import partial

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.projects.order_handle import MIME
from app.projects.page import ProjectsPage
from app.text.projects import moved
from core.api.message import Message
from core.api.project.projects import (
    ListProjects,
    OrderProjects,
)
from core.api.reasons import Reason
from tests.app.projects.listed import BIRDS, PRACTICE, card, in_order, texts
from tests.app.snapshots import CONTRIBUTING
from tests.fakes.scripted_engine import ScriptedEngine


def test_the_arrow_keys_move_a_project_in_the_order_and_keep_the_focus(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(ListProjects, in_order(PRACTICE, BIRDS))
    page.refresh()
    qtbot.waitUntil(lambda: page.card("birds") is not None and card(page).handle.isVisible())
    engine.answer(OrderProjects, in_order(BIRDS, PRACTICE))
    card(page).handle.setFocus()
    QTest.keyClick(card(page).handle, Qt.Key.Key_Up)
    assert engine.wait_for(OrderProjects) == OrderProjects(("birds", "practice"))
    qtbot.waitUntil(lambda: card(page).info.rank == 1)
    qtbot.waitUntil(lambda: page.window().focusWidget() is card(page).handle)
    QTest.keyClick(card(page).handle, Qt.Key.Key_Up)
    qtbot.wait(50)
    assert len(engine.received(OrderProjects)) == 1, "the first cannot go further up"


def test_a_card_that_is_dropped_on_another_takes_its_place(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(ListProjects, in_order(PRACTICE, BIRDS))
    page.refresh()
    qtbot.waitUntil(lambda: page.card("birds") is not None and card(page).handle.isVisible())
    data = QMimeData()
    data.setData(MIME, b"birds")
    left, nothing = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    top = card(page, "practice").mapTo(page, QPoint(5, 5)).toPointF()
    page.dropEvent(QDropEvent(top, Qt.DropAction.MoveAction, data, left, nothing))
    assert engine.wait_for(OrderProjects) == OrderProjects(("birds", "practice"))


def test_with_one_joined_project_there_is_nothing_to_order(page: ProjectsPage) -> None:
    assert not card(page).handle.isVisible()


def test_the_card_says_why_another_project_goes_first(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    cause = Message("upload_too_slow", {"needed": 250_000, "allowed": 125_000})
    slow = Reason("network_too_slow", hold=False, params={"cause": cause})
    hours = Reason("network_hours", False, {}, time.time() + 5)
    birds, practice = in_order(BIRDS, PRACTICE)
    engine.answer(ListProjects, [replace(birds, reasons=(slow, hours)), practice])
    page.refresh()
    qtbot.waitUntil(lambda: "Another of your projects runs first: This project needs at least" in texts(page))
    assert "Outside the hours in which the network may be used, until " in texts(page)


@pytest.mark.parametrize(("place", "expected"), [(-1, "cab"), (0, "cab"), (1, "acb"), (2, "abc"), (9, "abc")])
def test_a_project_is_moved_to_a_place(place: int, expected: str) -> None:
    assert "".join(moved(list("abc"), "c", place)) == expected


def test_an_order_that_the_command_line_gave_is_shown_at_once(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.show(replace(CONTRIBUTING, changes=1))
    for changes, order in ((2, (BIRDS, PRACTICE)), (3, (PRACTICE, BIRDS))):
        engine.answer(ListProjects, in_order(*order))
        engine.show(replace(CONTRIBUTING, changes=changes))
        qtbot.waitUntil(partial(is_order, page, [info.id for info in order]), timeout=2000)


def is_order(page: ProjectsPage, names: list[str]) -> bool:
    return page._order() == names

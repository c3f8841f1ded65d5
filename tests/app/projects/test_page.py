"""The projects page: the list with search and filter, joining and leaving, details, and adding a project."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QMessageBox
from pytestqt.qtbot import QtBot

from app.projects.page import ProjectsPage
from app.text.projects import ListFilter
from app.widgets.basic import Button
from core.api.errors import UsageError, WorldError
from core.api.intent import Contribute
from core.api.project.projects import (
    AddProject,
    JoinProject,
    LeaveProject,
    ListProjects,
    ProjectInfo,
    RemoveProject,
)
from tests.app.projects.listed import BIRDS, LACK, PRACTICE, card, texts
from tests.fakes.scripted_engine import ScriptedEngine


def test_the_practice_project_is_labelled_so(page: ProjectsPage) -> None:
    assert "For practice" in texts(card(page, "practice"))
    assert "For practice" not in texts(card(page))


def test_joining_asks_the_engine_and_shows_it(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [PRACTICE, replace(BIRDS, joined=True)])
    card(page).member.click()
    assert engine.wait_for(JoinProject) == JoinProject("birds")
    qtbot.waitUntil(lambda: card(page).member.text() == "Leave")
    assert "Joined" in texts(card(page))
    card(page).member.click()
    press(page, "Cancel")
    card(page).member.click()
    assert engine.received(LeaveProject) == []
    press(page, "Leave")
    assert engine.wait_for(LeaveProject) == LeaveProject("birds")


def press(page: ProjectsPage, text: str) -> None:
    """A button of the question that is open."""
    box = next(box for box in page.findChildren(QMessageBox) if box.isVisible())
    next(button for button in box.findChildren(Button) if button.text() == text).click()


def test_the_address_of_a_project_can_be_copied(page: ProjectsPage, qtbot: QtBot) -> None:
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    next(button for button in card(page).findChildren(Button) if button.text() == "Copy the address").click()
    assert QGuiApplication.clipboard().text() == BIRDS.source


def test_a_project_without_a_homepage_opens_the_page_of_its_host(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr("app.projects.details.QDesktopServices.openUrl", opened.append)
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    next(button for button in card(page).findChildren(Button) if button.text() == "Visit example.org").click()
    assert opened == [QUrl("https://example.org/")]


def test_a_right_click_offers_what_can_be_done_with_a_project(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    offered = {action.text(): action for action in card(page).menu().actions() if action.text()}
    assert list(offered) == ["Contribute", "Join", "Details", "Copy the address", "Remove from the list"]
    offered["Copy the address"].trigger()
    assert QGuiApplication.clipboard().text() == BIRDS.source
    offered["Contribute"].trigger()
    assert engine.wait_for(Contribute) == Contribute("birds")
    assert [action.text() for action in card(page, "practice").menu().actions()] == ["Contribute", "Join", "Details"]


def test_contribute_names_the_project(page: ProjectsPage, engine: ScriptedEngine) -> None:
    card(page).contribute.click()
    assert engine.wait_for(Contribute) == Contribute("birds")


def test_a_refused_join_says_why_on_its_card(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(JoinProject, WorldError("This project needs an invite."))
    card(page).member.click()
    qtbot.waitUntil(lambda: "This project needs an invite." in texts(card(page)))
    assert "This project needs an invite." not in texts(card(page, "practice"))


def test_details_show_what_is_missing_and_fold_again(page: ProjectsPage, qtbot: QtBot) -> None:
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    shown = texts(card(page)).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert LACK in texts(card(page))
    for text in ("BertForMaskedLM", "310 MB", "4.0 GB of memory, 2.0 Mbit/s up"):
        assert text in shown
    card(page).details.click()
    assert not card(page).unfolded


def test_an_invite_is_hidden_while_typed_and_sent_when_joining(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    field = card(page).findChild(QLineEdit)
    assert field is not None
    assert field.echoMode() is QLineEdit.EchoMode.Password
    QTest.keyClicks(field, "s3cret")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert engine.wait_for(JoinProject) == JoinProject("birds", "s3cret")


def test_a_project_is_added_by_its_address(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [PRACTICE])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("birds") is None)
    engine.answer(AddProject, BIRDS)
    engine.answer(ListProjects, [PRACTICE, BIRDS])
    page.add_button.click()
    QTest.keyClicks(page.add_panel.field, " https://example.org/p.json ")
    QTest.keyClick(page.add_panel.field, Qt.Key.Key_Return)
    assert engine.wait_for(AddProject) == AddProject("https://example.org/p.json")
    qtbot.waitUntil(lambda: page.card("birds") is not None and card(page).unfolded)
    assert not page.add_panel.isVisible()


def test_a_wrong_manifest_is_explained_under_the_field_and_the_text_stays(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    sentence = "The project's manifest is not usable: $.name: it is missing"
    engine.answer(AddProject, UsageError(sentence))
    page.add("https://example.org/p.json")
    qtbot.waitUntil(lambda: sentence in texts(page.add_panel))
    assert page.add_panel.field.text() == "https://example.org/p.json"
    assert page.add_panel.submit.isEnabled()


def test_a_dropped_file_is_added(page: ProjectsPage, engine: ScriptedEngine, tmp_path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "project.json"))])
    left, nothing = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPoint(5, 5).toPointF(), Qt.DropAction.CopyAction, data, left, nothing))
    assert engine.wait_for(AddProject) == AddProject(str(tmp_path / "project.json"))


def test_the_list_is_not_rebuilt_when_nothing_changed(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    before = card(page)
    page.refresh()
    engine.wait_for(ListProjects, 2)
    page.link.ask(ListProjects(), page.show_projects, kind=list[ProjectInfo])
    engine.wait_for(ListProjects, 3)
    qtbot.wait(50)
    assert card(page) is before


def test_search_and_filter_hide_the_others(page: ProjectsPage, qtbot: QtBot) -> None:
    page.filter.search.setText("voices ornith")
    assert card(page).isVisible()
    assert not card(page, "practice").isVisible()
    page.filter.search.setText("whales")
    assert "No project matches this search." in texts(page)
    page.filter.search.clear()
    page.filter.buttons[ListFilter.JOINED].click()
    assert not card(page).isVisible()


def test_only_what_fits_is_left_by_the_filter(page: ProjectsPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: card(page).fits is False)
    page.filter.buttons[ListFilter.FITTING].click()
    assert not card(page).isVisible()


def test_a_project_can_be_removed_and_that_undone(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    engine.answer(ListProjects, [PRACTICE])
    next(button for button in card(page).findChildren(Button) if button.text() == "Remove from the list").click()
    assert engine.wait_for(RemoveProject) == RemoveProject("birds")
    qtbot.waitUntil(lambda: page.card("birds") is None and "Birdsong is no longer in the list." in texts(page))
    page.removed.action.click()
    assert engine.wait_for(AddProject) == AddProject(BIRDS.source)


def test_a_project_that_is_added_is_led_to(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    others = [replace(PRACTICE, id=f"other-{number}", name=f"Other {number}") for number in range(8)]
    engine.answer(ListProjects, others)
    page.refresh()
    qtbot.waitUntil(lambda: page.card("other-7") is not None)
    page.filter.search.setText("other")
    page.filter.buttons[ListFilter.JOINED].click()

    def add(_: AddProject) -> ProjectInfo:
        engine.answer(ListProjects, [*others, BIRDS])
        return BIRDS

    engine.answer(AddProject, add)
    page.add_button.click()
    page.add_panel.field.setText(BIRDS.source)
    QTest.keyClick(page.add_panel.field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.card("birds") is not None and card(page).unfolded)
    qtbot.waitUntil(lambda: page.window().focusWidget() is card(page).details)
    seen = page.viewport().rect()
    assert seen.contains(card(page).mapTo(page.viewport(), QPoint(1, 1))), "its head is seen"
    assert seen.contains(card(page).details.mapTo(page.viewport(), QPoint(1, 1)))


def test_the_keyboard_stays_on_a_card_that_is_made_again(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(ListProjects, [PRACTICE, replace(BIRDS, joined=True)])
    card(page).member.setFocus()
    QTest.keyClick(card(page).member, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: card(page).member.text() == "Leave")
    qtbot.waitUntil(lambda: page.window().focusWidget() is card(page).member)

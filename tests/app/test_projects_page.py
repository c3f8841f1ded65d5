"""The projects page: the list, joining and leaving, details, and adding one."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.main_window import MainWindow
from app.project_card import ProjectCard
from app.projects_page import ProjectsPage
from app.widgets import Button, Label
from core.api.errors import UsageError, WorldError
from core.api.messages import (
    AddProject,
    Contribute,
    JoinProject,
    LeaveProject,
    ListProjects,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from tests.fakes.scripted_engine import ScriptedEngine

PRACTICE = ProjectInfo("practice", "Practice", "A tiny model.", "Idlehive", "CC0-1.0", "builtin", practice=True)
BIRDS = ProjectInfo("birds", "Birdsong", "Voices of birds.", "Ornithologists", "MIT", "https://example.org/p.json")
DETAILS = ProjectDetails(
    BIRDS,
    "BertForMaskedLM",
    "masked_language_modelling",
    4096,
    310_000_000,
    {"memory": 4_000_000_000, "upload": 250_000},
    missing=("It needs 6 GB of graphics memory.",),
)


@pytest.fixture
def page(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> ProjectsPage:
    """Opened, with two projects in the list."""
    engine.answer(ListProjects, [PRACTICE, BIRDS])
    engine.answer(ShowProject, DETAILS)
    window.open_page(1)
    opened = window.page(1)
    assert isinstance(opened, ProjectsPage)
    qtbot.waitUntil(lambda: opened.card("birds") is not None)
    return opened


def card(page: ProjectsPage, which: str = "birds") -> ProjectCard:
    found = page.card(which)
    assert found
    return found


def texts(page: QWidget) -> str:
    return "\n".join(label.text() for label in page.findChildren(Label) if label.isVisible())


def test_the_practice_project_is_labelled_so(page: ProjectsPage) -> None:
    assert "Practice, on this computer only" in texts(card(page, "practice"))
    assert "Practice, on this computer only" not in texts(card(page))


def test_joining_asks_the_engine_and_shows_it(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [PRACTICE, replace(BIRDS, joined=True)])
    card(page).member.click()
    assert engine.wait_for(JoinProject) == JoinProject("birds")
    qtbot.waitUntil(lambda: card(page).member.text() == "Leave")
    assert "Joined" in texts(card(page))
    card(page).member.click()
    assert engine.wait_for(LeaveProject) == LeaveProject("birds")


def test_contribute_names_the_project(page: ProjectsPage, engine: ScriptedEngine) -> None:
    card(page).contribute.click()
    assert engine.wait_for(Contribute) == Contribute("birds")


def test_a_refused_join_says_why_on_its_card(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(JoinProject, WorldError("This project needs an invite."))
    card(page).member.click()
    qtbot.waitUntil(lambda: "This project needs an invite." in texts(card(page)))
    assert "This project needs an invite." not in texts(card(page, "practice"))


def test_details_tell_what_is_missing_and_fold_again(page: ProjectsPage, qtbot: QtBot) -> None:
    card(page).details.click()
    qtbot.waitUntil(lambda: card(page).unfolded)
    shown = texts(card(page)).replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")
    for text in ("It needs 6 GB of graphics memory.", "BertForMaskedLM", "310 MB", "4.0 GB of memory, 2.0 Mbit/s up"):
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


def test_markup_in_a_summary_is_shown_as_it_is(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [replace(BIRDS, summary="<img src='https://example.org/pixel'><b>bold</b>")])
    page.refresh()
    qtbot.waitUntil(lambda: "<b>bold</b>" in texts(page))
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in page.findChildren(Label))


def test_the_list_is_not_rebuilt_when_nothing_changed(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    before = card(page)
    page.refresh()
    engine.wait_for(ListProjects, 2)
    page._link.ask(ListProjects(), page.show_projects, kind=list[ProjectInfo])
    engine.wait_for(ListProjects, 3)
    qtbot.wait(50)
    assert card(page) is before


def test_every_button_of_a_card_says_which_project_it_is_for(page: ProjectsPage) -> None:
    assert {button.accessibleDescription() for button in (card(page).member, card(page).details)} == {"Birdsong"}
    assert all(button.accessibleName() for button in page.findChildren(Button))

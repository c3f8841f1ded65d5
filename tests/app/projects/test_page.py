"""The projects page: the list, joining and leaving, details, and adding one."""

import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QByteArray, QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDropEvent, QImage, QImageWriter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.projects.card import ProjectCard
from app.projects.order_handle import MIME
from app.projects.page import ProjectsPage
from app.projects.picture import unpacked
from app.text.projects import ListFilter, moved
from app.widgets.basic import Button, Label
from app.window.main_window import MainWindow
from core.api.errors import UsageError, WorldError
from core.api.intent import Contribute
from core.api.message import Message
from core.api.project.projects import (
    AddProject,
    CurvePoint,
    GetCurve,
    GetPicture,
    JoinProject,
    LeaveProject,
    ListProjects,
    OrderProjects,
    Picture,
    ProjectDetails,
    ProjectInfo,
    ShowProject,
)
from core.api.reasons import Kind, Reason
from core.api.snapshot import Place
from tests.fakes.scripted_engine import ScriptedEngine

PRACTICE = ProjectInfo("practice", "Practice", "A tiny model.", "Idlehive", "CC0-1.0", "builtin", practice=True)
LACK = "It needs a graphics card with 6.0\N{NO-BREAK SPACE}GB of memory; none was found here."
BIRDS = ProjectInfo("birds", "Birdsong", "Voices of birds.", "Ornithologists", "MIT", "https://example.org/p.json")
DETAILS = ProjectDetails(
    BIRDS,
    "BertForMaskedLM",
    "masked_language_modelling",
    4096,
    310_000_000,
    {"memory": 4_000_000_000, "upload": 250_000},
    missing=(Message("needs_gpu", {"needed": 6_000_000_000}),),
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
    assert "Practice on this computer" in texts(card(page, "practice"))
    assert "Practice on this computer" not in texts(card(page))


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


def joined(info: ProjectInfo, rank: int) -> ProjectInfo:
    return replace(info, joined=True, rank=rank)


def in_order(*infos: ProjectInfo) -> list[ProjectInfo]:
    return [joined(info, rank) for rank, info in enumerate(infos, 1)]


def test_the_verdict_stands_on_the_card_before_anything_is_unfolded(page: ProjectsPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: LACK in texts(card(page)))
    assert card(page).fits is False
    assert not card(page).unfolded


def test_a_computer_that_lacks_nothing_fits(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ShowProject, replace(DETAILS, missing=()))
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Fits this computer" in texts(card(page)))


def test_the_card_tells_loss_and_peers_of_the_last_epoch(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(GetCurve, [CurvePoint(1, 7.1, None, 0, 5), CurvePoint(2, 6.5, None, 10, 9), CurvePoint(3)])
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Loss 6.50" in texts(card(page)))
    assert "Peers at epoch 2" in texts(card(page))


def test_peers_of_a_project_that_does_not_run_here_have_an_age(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(GetCurve, [CurvePoint(2, 6.5, None, 10, 9, time.time() - 7250)])
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Peers 2\N{NO-BREAK SPACE}h ago" in texts(card(page)))
    assert "Peers now" not in texts(card(page))


def test_the_card_tells_what_was_given_and_the_place_that_it_makes(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    assert "You gave" not in texts(card(page))
    place = Place(3, 41, 48_210, 0.09, 0.0)
    engine.answer(ShowProject, replace(DETAILS, samples=48_210, seconds=11_520.0, place=place))
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "You gave" in texts(card(page)))
    shown = " ".join(texts(card(page)).split())
    assert "You gave 48 210 samples in 3 h 12 min · You: place 3 of 41, 9 % of all samples" in shown


def test_a_picture_is_asked_of_the_engine_once(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(engine.received(GetPicture)) == 2)
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None)
    assert len(engine.received(GetPicture)) == 2


def png(qtbot: QtBot) -> bytes:
    image, buffer = QImage(300, 200, QImage.Format.Format_RGB32), QBuffer()
    image.fill(0x3366CC)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


def test_a_picture_is_cut_to_a_square_and_a_damaged_one_is_none(qtbot: QtBot) -> None:
    image = unpacked(Picture("png", png(qtbot)), 72)
    assert image is not None
    assert (image.width(), image.height(), image.pixelColor(36, 36).name()) == (72, 72, "#3366cc")
    assert unpacked(Picture("png", png(qtbot)[:60]), 72) is None
    assert unpacked(Picture("jpeg", png(qtbot)), 72) is None, "only the format that was checked is unpacked"


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
    slow = Reason(Kind.NETWORK_TOO_SLOW, hold=False, params={"cause": cause})
    hours = Reason(Kind.NETWORK_HOURS, False, {}, time.time() + 5)
    engine.answer(ListProjects, [replace(joined(BIRDS, 1), reasons=(slow, hours)), joined(PRACTICE, 2)])
    page.refresh()
    qtbot.waitUntil(lambda: "Another of your projects runs first: This project needs at least" in texts(page))
    assert "Outside the hours in which the network may be used, until " in texts(page)


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


@pytest.mark.parametrize(("place", "expected"), [(-1, "cab"), (0, "cab"), (1, "acb"), (2, "abc"), (9, "abc")])
def test_a_project_is_moved_to_a_place(place: int, expected: str) -> None:
    assert "".join(moved(list("abc"), "c", place)) == expected

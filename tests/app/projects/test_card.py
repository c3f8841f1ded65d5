"""The card of a project: verdict, figures, picture and names."""

import time
from functools import partial
from typing import Literal

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QBuffer, QByteArray, Qt
from PySide6.QtGui import QImage, QImageWriter
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.projects.learned import Learned
from app.projects.page import ProjectsPage
from app.projects.picture import MOST_PIXELS, unpacked
from app.widgets.basic import Button, Label
from core.api.project.demonstration import Demonstration, GetDemonstration, Span
from core.api.project.projects import (
    CurvePoint,
    Figure,
    GetCurve,
    GetPicture,
    ListProjects,
    Picture,
    ShowProject,
)
from core.api.snapshot import Place
from tests.app.projects.listed import BIRDS, DETAILS, LACK, card, texts
from tests.app.snapshots import CONTRIBUTING, PROGRESS, SILENT
from tests.fakes.scripted_engine import ScriptedEngine


def test_the_verdict_is_on_the_card_before_anything_is_unfolded(page: ProjectsPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: LACK in texts(card(page)))
    assert card(page).fits is False
    assert not card(page).unfolded


def test_a_computer_that_lacks_nothing_fits(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ShowProject, replace(DETAILS, missing=()))
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Fits this computer" in texts(card(page)))


def test_the_card_shows_loss_and_peers_of_the_last_epoch(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(GetCurve, [CurvePoint(1, 7.1, None, 0, 5), CurvePoint(2, 6.5, None, 10, 9), CurvePoint(3)])
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Epoch 2: loss 6.50" in texts(card(page)))
    assert "Peers at epoch 2" in texts(card(page))


def test_what_the_model_writes_is_shown_as_plain_text(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    spans = (Span("The <img src=x> "), Span("king", is_made=True), Span(" and the "), Span("cat", True, "queen"))
    figure = Figure("masked_accuracy", 0.25)
    engine.answer(GetDemonstration, Demonstration("filled_masks", spans, None, 96, figure))
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    written = "The <img src=x> [king] and the [cat ≠ queen]"
    qtbot.waitUntil(lambda: page.card("practice") is None and written in texts(card(page)))
    assert "What it has learned so far" in texts(card(page))
    assert "Epoch 96 · 25\N{NO-BREAK SPACE}% of the masked tokens right. In brackets:" in texts(card(page))
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in card(page).findChildren(Label))


def test_drawn_pictures_are_shown_below_their_caption(qtbot: QtBot) -> None:
    learned = Learned()
    qtbot.addWidget(learned)
    caption, figure = (Span("a red square left of a blue circle"),), Figure("image_code_accuracy", 0.96)
    learned.show_demonstration(Demonstration("drawn_pictures", caption, picture(342, 112).data, 200, figure))
    right = "Epoch 200 · 96\N{NO-BREAK SPACE}% of the picture codes right."
    assert f"{right} Pictures that it draws for this caption." in texts(learned)
    assert "a red square left of a blue circle" in texts(learned)
    shown = learned.findChild(QLabel, "demonstration")
    assert isinstance(shown, QLabel)
    assert (shown.pixmap().width(), shown.pixmap().height()) == (342, 112)
    assert shown.accessibleName().endswith("Pictures that it draws for this caption.")


def test_the_models_pictures_are_shown_unless_they_are_damaged_or_too_large(qtbot: QtBot) -> None:
    learned = Learned()
    qtbot.addWidget(learned)
    learned.show_demonstration(Demonstration("nearest_pictures", (), picture(300, 200).data))
    shown = learned.findChild(QLabel, "demonstration")
    assert isinstance(shown, QLabel)
    assert (shown.pixmap().width(), shown.isHidden()) == (300, False)
    for data in (picture(300, 200).data[:60], picture(MOST_PIXELS + 1, 1).data, b"<svg/>"):
        learned.show_demonstration(Demonstration("nearest_pictures", (), data))
        assert learned.isHidden()
    learned.show_demonstration(Demonstration("nearest_pictures", (), picture(1200, 300).data))
    assert shown.pixmap().width() == 360


def test_peers_of_a_project_that_does_not_run_here_have_an_age(
    page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(GetCurve, [CurvePoint(2, 6.5, None, 10, 9, time.time() - 7250)])
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None and "Peers 2\N{NO-BREAK SPACE}h ago" in texts(card(page)))
    assert "Peers now" not in texts(card(page))


def test_the_card_shows_what_was_given_and_the_place_among_volunteers(
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


def test_markup_in_a_summary_is_shown_as_it_is(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [replace(BIRDS, summary="<img src='https://example.org/pixel'><b>bold</b>")])
    page.refresh()
    qtbot.waitUntil(lambda: "<b>bold</b>" in texts(page))
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in page.findChildren(Label))


def test_every_button_of_a_card_says_which_project_it_is_for(page: ProjectsPage) -> None:
    assert {button.accessibleDescription() for button in (card(page).member, card(page).details)} == {"Birdsong"}
    assert all(button.accessibleName() for button in page.findChildren(Button))


def test_a_picture_is_asked_of_the_engine_once(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: len(engine.received(GetPicture)) == 2)
    engine.answer(ListProjects, [BIRDS])
    page.refresh()
    qtbot.waitUntil(lambda: page.card("practice") is None)
    assert len(engine.received(GetPicture)) == 2


def picture(width: int = 300, height: int = 200, form: Literal["png", "jpeg"] = "png") -> Picture:
    image, buffer = QImage(width, height, QImage.Format.Format_RGB32), QBuffer()
    image.fill(0x3366CC)
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(form.encode())).write(image)
    return Picture(form, bytes(buffer.data().data()))


def test_a_picture_is_cut_to_a_square_and_a_damaged_one_is_none(qtbot: QtBot) -> None:
    image = unpacked(picture(), 72)
    assert image is not None
    assert (image.width(), image.height(), image.pixelColor(36, 36).name()) == (72, 72, "#3366cc")
    assert unpacked(Picture("png", picture().data[:60]), 72) is None
    assert unpacked(Picture("jpeg", picture().data), 72) is None, "only the format that was found is unpacked"


@pytest.mark.parametrize("form", ["png", "jpeg"])
def test_a_small_file_that_would_unpack_to_a_huge_picture_is_not_shown(
    qtbot: QtBot, form: Literal["png", "jpeg"]
) -> None:
    assert unpacked(picture(MOST_PIXELS, 8, form), 72) is not None
    assert unpacked(picture(MOST_PIXELS + 1, 8, form), 72) is None
    assert unpacked(picture(8, MOST_PIXELS + 1, form), 72) is None


def test_the_badge_says_what_the_session_does(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ListProjects, [replace(BIRDS, joined=True, active=True)])
    going = {"contributing": "Contributing now", "syncing": "Getting ready", "holding": "On hold", "leaving": "Joined"}
    for state, words in going.items():
        engine.show(replace(CONTRIBUTING, state=state, changes=1))
        qtbot.waitUntil(partial(has_badge, page, words))
    assert "Contributing now" not in badges(page)
    engine.show(replace(SILENT, changes=1))
    qtbot.waitUntil(partial(has_badge, page, "No news"))


def has_badge(page: ProjectsPage, words: str) -> bool:
    return page.card("practice") is None and words in badges(page)


def badges(page: ProjectsPage) -> list[str]:
    known = {"badge", "badge-own"}
    labels = (each for each in card(page).findChildren(Label) if each.property("role") in known)
    return [label.text() for label in labels if not label.isHidden()]


def test_what_is_given_and_the_epoch_grow_on_the_card(page: ProjectsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    for epoch in (3, 4):
        engine.answer(ShowProject, replace(DETAILS, samples=epoch * 100, seconds=60.0))
        engine.answer(GetCurve, [CurvePoint(epoch, 6.5, None, 10, 9)])
        engine.show(replace(CONTRIBUTING, progress=replace(PROGRESS, epoch=epoch)))
        for text in (f"You gave {epoch}00 samples", f"Epoch {epoch}: loss 6.50"):
            qtbot.waitUntil(partial(says, page, text), timeout=2000)


def says(page: ProjectsPage, text: str) -> bool:
    return text in texts(card(page))

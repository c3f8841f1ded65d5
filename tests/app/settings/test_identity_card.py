"""The identity on the settings page, and moving it to another computer."""

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.settings.identity_card import IdentityCard
from app.settings.passphrase import PassphraseDialog
from app.widgets.basic import Label
from app.window.main_window import MainWindow
from core.api.identity import (
    ExportIdentity,
    GetIdentity,
    IdentityExport,
    IdentityInfo,
    ImportIdentity,
)
from tests.fakes.scripted_engine import ScriptedEngine

ANN = IdentityInfo("ab12cd34" * 8)


@pytest.fixture
def card(window: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> Iterator[IdentityCard]:
    engine.answer(GetIdentity, ANN)
    window.open_named("settings")
    found = window.findChild(IdentityCard)
    assert found is not None
    qtbot.waitUntil(lambda: found.key.toolTip() == ANN.id)
    yield found
    window.open_named("home")


def texts(card: IdentityCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(Label) if label.isVisible())


def test_the_key_is_shown_by_its_beginning_and_whole_on_request(card: IdentityCard) -> None:
    assert "Your key begins with ab12 cd34" in texts(card)
    assert card.key.toolTip() == ANN.id


def test_an_export_is_written_for_its_owner_alone(
    card: IdentityCard, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    engine.answer(ExportIdentity, IdentityExport("wrapped"))
    card.export_to(tmp_path / "ann.identity", "correct horse")
    qtbot.waitUntil((tmp_path / "ann.identity").exists)
    assert (tmp_path / "ann.identity").read_text() == "wrapped"
    assert stat.S_IMODE((tmp_path / "ann.identity").stat().st_mode) == 0o600
    assert "it opens with your passphrase only" in texts(card)


def test_an_export_to_nowhere_is_one_clear_sentence(
    card: IdentityCard, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    engine.answer(ExportIdentity, IdentityExport("wrapped"))
    card.export_to(tmp_path / "none" / "ann.identity", "correct horse")
    qtbot.waitUntil(lambda: "cannot be written" in texts(card))


def test_an_import_gives_the_text_and_what_was_ticked(
    card: IdentityCard, engine: ScriptedEngine, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "bee.identity").write_text("wrapped")
    engine.answer(ImportIdentity, IdentityInfo("ee" * 32))
    card.import_from(tmp_path / "bee.identity", "correct horse", True)
    qtbot.waitUntil(lambda: card.key.toolTip() == "ee" * 32)
    assert engine.received(ImportIdentity) == [ImportIdentity("wrapped", "correct horse", True)]


def test_an_import_of_no_file_is_told_without_asking_the_engine(
    card: IdentityCard, engine: ScriptedEngine, tmp_path: Path
) -> None:
    card.import_from(tmp_path / "none", "correct horse", False)
    assert "There is no file" in texts(card)
    assert engine.received(ImportIdentity) == []


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("short", "short", "at least 8 characters"),
        ("long enough", "long enougx", "not the same"),
        ("long enough", "long enough", ""),
    ],
)
def test_a_new_passphrase_is_typed_twice(
    card: IdentityCard, qtbot: QtBot, first: str, second: str, expected: str
) -> None:
    dialog = PassphraseDialog(card, "Export", "Choose one.", twice=True)
    given: list[str] = []
    dialog.given.connect(lambda passphrase, _: given.append(passphrase))
    dialog.open()
    QTest.keyClicks(dialog.first, first)
    assert dialog.second is not None
    QTest.keyClicks(dialog.second, second)
    told = dialog.findChildren(Label)
    dialog.accept_button.click()
    assert given == ([] if expected else [first])
    if expected:
        assert any(expected in label.text() for label in told)
        dialog.reject()

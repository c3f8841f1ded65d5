"""Files that the history page writes and reads."""

from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QInputDialog
from pytestqt.qtbot import QtBot

from app.history.page import HistoryPage
from core.api.record.record import (
    DeleteHistory,
    ExportHistory,
    ImportHistory,
    Written,
)
from tests.app.history.record import LEFT
from tests.fakes.scripted_engine import ScriptedEngine


def test_export_and_import_are_the_engines_work(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(ExportHistory, lambda ask: Written(ask.path, 2, 9))
    engine.answer(ImportHistory, lambda ask: Written(ask.path, 2, 9, 4))
    page.files.export(Path("/tmp/h.csv"))
    assert engine.wait_for(ExportHistory).form == "csv"
    qtbot.waitUntil(lambda: page.files.notice.label.text() == "h.csv is written: 9 hours.")
    page.files.import_file(Path("/tmp/h.json"))
    qtbot.waitUntil(lambda: "4 hours new" in page.files.notice.label.text())


def test_deleting_can_be_undone_until_it_happens(page: HistoryPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    page.files._deletion.setInterval(50)
    page.files.delete_soon()
    QTest.mouseClick(page.files.notice.action, LEFT)
    qtbot.wait(200)
    assert engine.received(DeleteHistory) == []
    page.files.delete_soon()
    qtbot.waitUntil(lambda: len(engine.received(DeleteHistory)) == 1)
    qtbot.waitUntil(lambda: "is deleted" in page.files.notice.label.text())


def test_the_certificate_is_painted_for_all_that_was_given(page: HistoryPage, tmp_path: Path, qtbot: QtBot) -> None:
    page.files.save_certificate(tmp_path / "c.pdf")
    qtbot.waitUntil((tmp_path / "c.pdf").exists)
    assert (tmp_path / "c.pdf").read_bytes().startswith(b"%PDF-")


def test_what_was_written_can_be_opened_or_shown_in_its_folder(
    page: HistoryPage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("app.history.files.QDesktopServices.openUrl", lambda url: opened.append(url.toLocalFile()))
    page.files.save_certificate(tmp_path / "c.pdf", "Ada")
    qtbot.waitUntil(page.files.open.isVisible)
    page.files.open.click()
    page.files.show_folder.click()
    assert opened == [str(tmp_path / "c.pdf"), str(tmp_path)]
    page.files.delete_soon()
    assert not page.files.open.isVisible()
    page.files.undo()


def test_the_certificate_asks_for_a_name(
    page: HistoryPage, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr("app.history.certificate.save_certificate", lambda _overview, _path, name: made.append(name))
    page.files.actions["certificate"].trigger()
    question = page.findChild(QInputDialog)
    assert question is not None
    question.setTextValue(" Ada ")
    question.accept()
    dialog = page.findChild(QFileDialog)
    assert dialog is not None
    dialog.fileSelected.emit(str(tmp_path / "c.pdf"))
    dialog.close()
    qtbot.waitUntil(lambda: made == ["Ada"])

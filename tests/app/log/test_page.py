"""The log page: it follows the files, filters and searches them, and never waits for a disk."""

import os
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.log.files import Level, Line, with_levels
from app.log.page import MOST_LINES, LogPage
from app.window.main_window import MainWindow
from core.client.profile import Profile

TEXT = """\
2026-03-05 12:00:00,100 INFO core.engine: start
2026-03-05 12:00:01,000 WARNING core.engine: the manifest could not be renewed
2026-03-05 12:00:02,000 ERROR core.engine: failed
Traceback (most recent call last):
2026-03-05 12:00:03,000 INFO core.engine: again
"""


@pytest.fixture
def page(window: MainWindow, profile: Profile, qtbot: QtBot) -> Iterator[LogPage]:
    """Opened, with five lines."""
    (profile.logs / "engine.log").write_text(TEXT)
    window.open_named("log")
    opened = window.findChild(LogPage)
    assert opened is not None
    opened.technical.click()
    qtbot.waitUntil(lambda: "again" in opened.shown)
    yield opened
    window.open_named("home")


def test_all_lines_are_shown_in_order(page: LogPage) -> None:
    assert [line.split()[-1] for line in page.shown.splitlines()] == ["start", "renewed", "failed", "last):", "again"]


def test_new_lines_come_by_themselves(page: LogPage, profile: Profile, qtbot: QtBot) -> None:
    with (profile.logs / "trainer.log").open("w") as file:
        file.write("2026-03-05 12:00:04 from the session\n")
    qtbot.waitUntil(lambda: page.shown.endswith("from the session"))


@pytest.mark.parametrize(("choice", "expected"), [(0, 5), (1, 3), (2, 2)])
def test_the_filter_keeps_a_traceback_with_its_error(page: LogPage, choice: int, expected: int) -> None:
    page.level.setCurrentIndex(choice)
    assert len(page.shown.splitlines()) == expected


def test_the_search_finds_every_word_anywhere_in_a_line(page: LogPage) -> None:
    page.search.setText("RENEWED manifest")
    assert "renewed" in page.shown
    assert len(page.shown.splitlines()) == 1
    page.search.clear()
    assert len(page.shown.splitlines()) == 5


def test_copy_takes_what_is_selected_else_all_that_is_shown(page: LogPage) -> None:
    page.level.setCurrentIndex(2)
    page.copy.click()
    assert QGuiApplication.clipboard().text() == page.shown
    cursor = page.view.textCursor()
    cursor.select(cursor.SelectionType.LineUnderCursor)
    page.view.setTextCursor(cursor)
    page.copy.click()
    assert QGuiApplication.clipboard().text() in page.shown.splitlines()


def test_memory_is_bounded_however_much_is_logged(page: LogPage) -> None:
    page.add([Line("engine", f"line {number}", Level.INFO) for number in range(3 * MOST_LINES)])
    assert page.view.blockCount() <= MOST_LINES
    page.search.setText("line 0")
    assert "line 0\n" not in page.shown


def test_following_stays_at_the_newest_line_and_reading_is_left_alone(page: LogPage) -> None:
    many = [Line("engine", f"line {number}", Level.INFO) for number in range(300)]
    page.add(many)
    bar = page.view.verticalScrollBar()
    assert bar.value() == bar.maximum() > 0
    page.follow.setChecked(False)
    bar.setValue(10)
    page.add(many)
    assert bar.value() == 10


def test_a_disk_that_hangs_does_not_hold_up_the_window(window: MainWindow, profile: Profile, qtbot: QtBot) -> None:
    stuck = profile.logs / "engine.log"
    os.mkfifo(stuck)
    window.open_named("log")
    window.open_named("home")
    window.open_named("log")
    qtbot.wait(100)
    page = window.findChild(LogPage)
    assert page is not None
    assert page.shown == ""
    # Its reader waits for a writer; give it one, and it ends.
    os.close(os.open(stuck, os.O_WRONLY))
    window.open_named("home")


def test_a_line_without_a_level_has_that_of_its_file_before() -> None:
    before: dict[str, Level] = {}
    lines = with_levels([("a", "2026-03-05 12:00:00 ERROR x"), ("b", "plain"), ("a", "Traceback")], before)
    assert [line.level for line in lines] == [Level.ERROR, Level.INFO, Level.ERROR]
    assert with_levels([("a", "  File")], before)[0].level is Level.ERROR
    assert with_levels([("a", "2026-03-05 12:00:01 no level")], before)[0].level is Level.INFO

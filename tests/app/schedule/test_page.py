"""The schedule page: presets, own weeks, and what the week says."""

import os
import time
from datetime import UTC, datetime

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.home.day_strip import DayStrip
from app.schedule.page import SchedulePage
from app.text import schedule
from app.window.main_window import MainWindow
from core.api.errors import WorldError
from core.api.preferences.commands import SetPreference
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.schedule import CELLS, Level, ScheduleState
from core.client.profile import Profile
from tests.app.schedule.parts import LEFT, NIGHTS, Show, texts
from tests.app.snapshots import CONTRIBUTING
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen, info

CORES = os.cpu_count() or 1


def test_presets_are_marked_when_the_engine_has_taken_them(
    page: SchedulePage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page.presets["nights"].click()
    assert engine.wait_for(SetPreference) == SetPreference("week", NIGHTS)
    qtbot.waitUntil(page.presets["nights"].isChecked)
    assert not page.presets["always"].isChecked()
    assert page.grid.cells == NIGHTS
    engine.answer(SetPreference, WorldError("The disk is full."))
    page.presets["weekends"].click()
    qtbot.waitUntil(lambda: "The disk is full." in texts(page))
    assert page.presets["nights"].isChecked()
    assert not page.presets["weekends"].isChecked()


def test_the_levels_say_what_they_mean_in_numbers(page: SchedulePage, qtbot: QtBot) -> None:
    gentle = page.brushes[Level.GENTLE]
    qtbot.waitUntil(lambda: "30" in gentle.accessibleName())
    told = gentle.accessibleName().replace(SPACE, " ")
    assert told == f"Paint gentle: 1 of {CORES} threads, 30 % of the time · 2 Mbit/s up"
    full = f"{max(1, CORES // 2)} of {CORES} threads, 80 % of the time · 8 Mbit/s up"
    assert full in page.brushes[Level.FULL].accessibleName().replace(SPACE, " ")


def test_the_page_says_what_counts_now_and_what_comes_next(page: SchedulePage, show: Show, qtbot: QtBot) -> None:
    edge = time.time() + 7200
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE, Level.FULL, edge)))
    qtbot.waitUntil(lambda: "Gentle" in texts(page))
    assert "then full power" in texts(page)
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.OFF, Level.FULL, edge, True, edge)))
    qtbot.waitUntil(lambda: "The schedule does not count until" in texts(page))


def test_the_home_page_tells_the_next_change_and_leads_here(window: MainWindow, chosen: Chosen, show: Show) -> None:
    edge = datetime(2099, 1, 1, 23, tzinfo=UTC).timestamp()
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE, Level.FULL, edge)))
    strip = window.home.findChild(DayStrip)
    assert strip is not None
    assert strip.accessibleName().startswith("Next change: full power, ")
    QTest.mouseClick(strip, LEFT)
    assert isinstance(window.page(2), SchedulePage)


def test_a_week_that_never_changes_says_so() -> None:
    assert schedule.next_change(ScheduleState(Level.FULL), 0.0) == "Full power at all times"
    assert schedule.until(ScheduleState(Level.OFF), "." * CELLS, UTC, 0.0) == "at all times"


def test_a_level_grows_with_what_there_is_to_say(page: SchedulePage) -> None:
    brush = page.brushes[Level.FULL]
    brush.set_meaning("short")
    short = brush.heightForWidth(180)
    brush.set_meaning("100 % of the processor · 4 threads · 12 Mbit/s up · 80 Mbit/s down")
    assert brush.heightForWidth(180) > short


def test_nothing_is_cut_off_in_the_smallest_window(window: MainWindow, page: SchedulePage, qtbot: QtBot) -> None:
    window.resize(window.minimumSize())
    QTest.qWait(20)
    assert page.horizontalScrollBar().maximum() == 0


def test_all_of_the_processor_says_how_many_threads_that_is() -> None:
    limits = [info(name) for name in PREFERENCES]
    assert schedule.level_meaning(Level.FULL, limits, uses_gpu=False, cores=16) == "8 of 16 threads"
    chosen = [info("threads", 1), info("processor_share", 50)]
    meaning = schedule.level_meaning(Level.FULL, chosen, uses_gpu=False, cores=2).replace(SPACE, " ")
    assert meaning == "1 of 2 threads, 50 % of the time"


def test_gentle_and_clear_stand_beside_the_other_presets(page: SchedulePage, engine: ScriptedEngine) -> None:
    page.presets["gentle"].click()
    page.presets["never"].click()
    engine.wait_for(SetPreference, 2)
    assert engine.received(SetPreference) == [SetPreference("week", "g" * CELLS), SetPreference("week", "." * CELLS)]


def test_a_week_is_saved_under_a_name_chosen_again_and_removed(
    page: SchedulePage, engine: ScriptedEngine, profile: Profile, qtbot: QtBot
) -> None:
    own = page.own_weeks
    page.presets["nights"].click()
    qtbot.waitUntil(lambda: page._cells == NIGHTS)
    own.save(" Term ")
    assert Settings(profile).weeks == {"Term": NIGHTS}
    page.presets["always"].click()
    qtbot.waitUntil(lambda: page._cells != NIGHTS)
    own.fill()
    own.menu().actions()[0].trigger()
    qtbot.waitUntil(lambda: page._cells == NIGHTS)
    own.fill()
    assert own.menu().actions()[0].isChecked()
    removal = own.menu().actions()[-1].menu()
    assert isinstance(removal, QMenu)
    removal.actions()[0].trigger()
    assert Settings(profile).weeks == {}


def test_tab_goes_from_top_to_bottom(page: SchedulePage) -> None:
    first: QWidget = page.presets["always"]
    chain, widget = [first], first.nextInFocusChain()
    while widget is not first and widget is not None:
        if page.isAncestorOf(widget) and widget.isVisible() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            chain.append(widget)
        widget = widget.nextInFocusChain()
    tops = [each.mapTo(page, QPoint()).y() for each in chain]
    assert tops == sorted(tops)
    assert {type(each).__name__ for each in chain} >= {"ToggleButton", "OwnWeeks", "WeekGrid", "LevelButton"}

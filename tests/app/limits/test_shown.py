"""What the limits page shows: which limits there are here, what they are and what applies now."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from app.limits.editor import NumberEditor
from app.limits.page import LimitsPage
from app.text import preferences
from app.widgets.basic import Button
from app.window.main_window import MainWindow
from core.api.message import Message
from core.api.preferences.commands import ResetPreference
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.schedule import Level, ScheduleState
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import ProcessorUse, Silence, Snapshot
from tests.app.limits.parts import Show, editor, texts
from tests.app.snapshots import CONTRIBUTING, NOW, failed
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen


def test_every_limit_of_the_engine_has_a_row_and_gentle_ones_stand_below_the_full_one(page: LimitsPage) -> None:
    names = [name for row in page.rows.values() for name in row.lines]
    assert sorted(names) == sorted(PREFERENCES.keys() - {"week"})
    assert list(page.rows["upload_limit"].lines) == ["upload_limit", "gentle.upload_limit"]
    assert "Network" in texts(page)


def test_a_limit_shows_the_live_value_and_what_applies_now(
    page: LimitsPage, limits: Chosen, show: Show, qtbot: QtBot
) -> None:
    upload = replace(limits.now["upload_limit"], value=1_500_000, effective=250_000, why=Message("gentle_hours"))
    limits.now["upload_limit"] = upload
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE)))
    qtbot.waitUntil(lambda: "Now 2.1 Mbit/s · 2 Mbit/s applies now (gentle hours)" in texts(page.rows["upload_limit"]))
    assert "Now 3.4 Mbit/s" in texts(page.rows["download_limit"])
    show(Snapshot(state="idle"))
    assert "Now" not in texts(page.rows["download_limit"])


@pytest.mark.usefixtures("london")
def test_processor_and_memory_have_live_values(
    page: LimitsPage, show: Callable[[Snapshot], None], qtbot: QtBot
) -> None:
    busy = replace(CONTRIBUTING, processor=ProcessorUse(37, 1_500_000_000, NOW))
    show(busy)
    qtbot.waitUntil(lambda: "Now 37 %" in texts(page.rows["processor_share"]))
    assert "1.5 GB at 16:06:40" in texts(page.rows["memory_limit"])
    show(replace(busy, silence=Silence(NOW)))
    qtbot.waitUntil(lambda: "Now" not in texts(page.rows["processor_share"]))
    for name in ("memory_limit", "upload_limit"):
        assert not any(word in texts(page.rows[name]) for word in ("Now", " at "))


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        (Message("gentle_hours"), "gentle hours"),
        (Message("gpu_limit_lower", {"number": 1}), "the limit of card 1 is lower"),
        (Message("limit_lower", {"name": "upload_limit"}), "“Upload” for all hours is lower"),
        (Message("of_a_newer_engine"), "of_a_newer_engine"),
    ],
)
def test_what_restricts_a_limit_is_named(why: Message, expected: str) -> None:
    assert preferences.cause(why) == expected


def test_a_failure_of_a_limit_leads_to_it(
    window: MainWindow, limits: Chosen, show: Show, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    over = Message("memory_over_limit", {"held": 3_000_000_000, "allowed": 2_000_000_000})
    show(failed(None, over))
    assert window.home.remedy.isVisible()
    assert window.home.remedy.toolTip() == "Memory"
    QTest.mouseClick(window.home.remedy, Qt.MouseButton.LeftButton)
    opened = window.page(3)
    assert isinstance(opened, LimitsPage)
    qtbot.waitUntil(lambda: "memory_limit" in opened.rows and opened.rows["memory_limit"].isAncestorOf(_focus()))
    window.open_page(0)
    show(replace(CONTRIBUTING, project="birds"))
    assert not window.home.remedy.isVisible()


def _focus() -> QWidget:
    return QApplication.focusWidget() or QWidget()


def test_the_live_bar_lies_on_the_effective_level(page: LimitsPage, show: Show, qtbot: QtBot) -> None:
    busy = replace(CONTRIBUTING, processor=ProcessorUse(40))
    full, gentle = (editor(page, name, NumberEditor).slider for name in ("processor_share", "gentle.processor_share"))
    show(busy)
    assert full._live is not None
    assert gentle._live is None
    show(replace(busy, schedule=ScheduleState(Level.GENTLE)))
    assert full._live is None
    assert gentle._live is not None


def test_a_limit_that_the_command_line_set_is_shown_at_once(
    page: LimitsPage, limits: Chosen, show: Show, qtbot: QtBot
) -> None:
    show(replace(CONTRIBUTING, changes=1))
    limits.change("threads", 3)
    show(replace(CONTRIBUTING, changes=2))
    qtbot.waitUntil(lambda: editor(page, "threads", NumberEditor).entry.text() == "3", timeout=2000)


def visible(page: LimitsPage) -> set[str]:
    return {name for name, row in page.rows.items() if row.isVisible()}


def test_limits_of_what_this_computer_lacks_are_folded_away(
    window: MainWindow, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    limits.change("gpu_temperature", 75)
    none = SensorInfo("gpu", Message("driver_missing"), False), SensorInfo("power", Message("battery_missing"), True)
    engine.answer(GetSensors, list(none))
    window.open_named("limits")
    page = window.findChild(LimitsPage)
    assert page is not None
    qtbot.waitUntil(lambda: "cache_size" in visible(page) and "gpu_use" not in visible(page))
    assert "battery_level" not in visible(page)
    assert "gpu_temperature" in visible(page), "what was changed is shown"
    assert "Show 8 limits" in page.lacking.text()
    page.lacking.click()
    assert {"gpu_use", "battery_level"} <= visible(page)
    assert not page.lacking.isVisible()


def test_only_changed_limits_are_shown_and_all_are_reset_after_a_question(
    page: LimitsPage, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    limits.change("cache_size", 20 * 10**9)
    limits.change("gentle.threads", 2)
    page.refresh()
    qtbot.waitUntil(lambda: page.rows["cache_size"].is_changed)
    page.only_changed.click()
    assert visible(page) == {"cache_size", "threads"}
    page.reset_all.click()
    box = next(box for box in page.findChildren(QMessageBox) if box.isVisible())
    next(button for button in box.findChildren(Button) if button.text() == "Reset all").click()
    engine.wait_for(ResetPreference, 2)
    assert {command.name for command in engine.received(ResetPreference)} == {"cache_size", "gentle.threads"}

"""The limits page: rows made from the engine's answer, changes that are asked for, and what is in force."""

from collections.abc import Callable
from typing import TypeVar

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from app.limits.editor import AmountEditor, SwitchEditor
from app.limits.page import LimitsPage
from app.limits.row import LimitLine
from app.limits.slider import LimitSlider
from app.text import limits as limits_text
from app.text import quantities
from app.text.numbers import SPACE
from app.widgets.basic import Button, Label
from app.window.main_window import MainWindow
from core.api.errors import UsageError, WorldError
from core.api.preferences.limits import LimitInfo, ResetLimit, SetLimit, ShowLimits
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.program_names import SetPrograms
from core.api.preferences.schedule import Level, ScheduleState
from core.api.snapshot import ProcessorUse, Snapshot
from tests.app.snapshots import CONTRIBUTING
from tests.app.text.test_quantities import limit
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]
Editor = TypeVar("Editor", AmountEditor, SwitchEditor)


class Limits:
    """An engine's limits: what is set is what is shown next."""

    def __init__(self) -> None:
        self.now = {preference.name: limit(preference) for preference in PREFERENCES.values()}

    def all(self, _: ShowLimits) -> list[LimitInfo]:
        return list(self.now.values())

    def set(self, command: SetLimit) -> LimitInfo:
        return self.change(command.name, command.value)

    def reset(self, command: ResetLimit) -> LimitInfo:
        return self.change(command.name, self.now[command.name].default)

    def change(self, name: str, value: int) -> LimitInfo:
        self.now[name] = replace(self.now[name], value=value, effective=value)
        return self.now[name]


@pytest.fixture
def limits(engine: ScriptedEngine) -> Limits:
    known = Limits()
    engine.answer(ShowLimits, known.all)
    engine.answer(SetLimit, known.set)
    engine.answer(ResetLimit, known.reset)
    return known


@pytest.fixture
def page(window: MainWindow, limits: Limits, qtbot: QtBot) -> LimitsPage:
    window.open_page(3)
    opened = window.page(3)
    assert isinstance(opened, LimitsPage)
    qtbot.waitUntil(lambda: "cache_size" in opened.rows)
    QApplication.processEvents()  # what is pressed must not move before it is let go
    return opened


def line(page: LimitsPage, name: str) -> LimitLine:
    return page.rows[name.removeprefix("gentle.")].lines[name]


def editor(page: LimitsPage, name: str, kind: type[Editor]) -> Editor:
    found = line(page, name).editor
    assert isinstance(found, kind)
    return found


def shown(page: LimitsPage, name: str) -> str:
    return editor(page, name, AmountEditor).entry.text().replace(SPACE, " ")


def texts(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(Label) if label.isVisible()).replace(SPACE, " ")


def test_every_preference_has_words_and_a_page() -> None:
    for name, preference in PREFERENCES.items():
        assert limits_text.has_words(name), name
        assert limits_text.page_name(preference.page) != limits_text.page_name(""), name
        assert preference.zero == "" or quantities.zero_word(preference.zero)


def test_a_limit_for_one_card_is_named_after_it() -> None:
    assert limits_text.words("gpu1.temperature").name == "Temperature, card 1"


def test_every_limit_of_the_engine_has_a_row_and_gentle_ones_stand_below_the_full_one(page: LimitsPage) -> None:
    names = [name for row in page.rows.values() for name in row.lines]
    assert sorted(names) == sorted(PREFERENCES)
    assert list(page.rows["upload_limit"].lines) == ["upload_limit", "gentle.upload_limit"]
    assert "Network" in texts(page)


def test_a_value_is_typed_in_human_units(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    entry = editor(page, "upload_limit", AmountEditor).entry
    assert shown(page, "upload_limit") == "no limit"
    entry.selectAll()
    QTest.keyClicks(entry, "8 Mbit/s")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    assert engine.wait_for(SetLimit) == SetLimit("upload_limit", 1_000_000)
    qtbot.waitUntil(line(page, "upload_limit").reset.isEnabled)
    assert shown(page, "upload_limit") == "8 Mbit/s"


def test_a_bad_entry_names_the_range_and_goes_back(page: LimitsPage, engine: ScriptedEngine) -> None:
    entry = editor(page, "cache_size", AmountEditor).entry
    entry.selectAll()
    QTest.keyClicks(entry, "1 MB")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    assert "“1 MB” is out of range. Allowed: 64 MiB to 1024 TiB." in texts(page.rows["cache_size"])
    assert shown(page, "cache_size") == "10 GiB"
    assert engine.received(SetLimit) == []


def test_escape_gives_an_entry_up(page: LimitsPage, engine: ScriptedEngine) -> None:
    entry = editor(page, "cache_size", AmountEditor).entry
    QTest.keyClicks(entry, "77")
    QTest.keyClick(entry, Qt.Key.Key_Escape)
    assert shown(page, "cache_size") == "10 GiB"
    entry.clearFocus()
    assert engine.received(SetLimit) == []


def test_what_the_engine_refuses_is_told_in_the_row_and_goes_back(
    page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(SetLimit, WorldError("The disk has no room for that."))
    entry = editor(page, "cache_size", AmountEditor).entry
    entry.selectAll()
    QTest.keyClicks(entry, "20 GB")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "The disk has no room for that." in texts(page.rows["cache_size"]))
    assert shown(page, "cache_size") == "10 GiB"
    assert "The disk has no room" not in texts(page.rows["threads"])


def test_the_slider_asks_once_when_it_is_let_go(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    slider = editor(page, "upload_limit", AmountEditor).slider
    right, middle = QPoint(slider.width() - 9, slider.height() // 2), slider.rect().center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=right)
    QTest.mouseMove(slider, middle)
    assert shown(page, "upload_limit") != "no limit"
    assert engine.received(SetLimit) == []
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)
    asked = engine.wait_for(SetLimit)
    assert asked.name == "upload_limit"
    assert 12_500 < asked.value < 125_000_000
    qtbot.waitUntil(line(page, "upload_limit").reset.isEnabled)
    assert len(engine.received(SetLimit)) == 1


def test_arrow_keys_move_the_slider_stop_by_stop(
    page: LimitsPage, engine: ScriptedEngine, limits: Limits, qtbot: QtBot
) -> None:
    slider = editor(page, "upload_limit", AmountEditor).slider
    for _ in range(3):
        QTest.keyClick(slider, Qt.Key.Key_Left)
    asked = [engine.wait_for(SetLimit, number).value for number in (1, 2, 3)]
    assert asked == [125_000_000, 100_000_000, 75_000_000]
    qtbot.waitUntil(lambda: shown(page, "upload_limit") == "600 Mbit/s")


def test_the_wheel_scrolls_the_page_and_changes_no_limit(page: LimitsPage) -> None:
    slider = editor(page, "upload_limit", AmountEditor).slider
    before, at = slider.value(), slider.rect().center().toPointF()
    nothing = (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False)
    wheel = QWheelEvent(at, slider.mapToGlobal(at), QPoint(), QPoint(0, -120), *nothing)
    QApplication.sendEvent(slider, wheel)
    assert slider.value() == before
    assert not wheel.isAccepted()


def test_reset_is_there_only_for_what_was_changed(
    page: LimitsPage, engine: ScriptedEngine, limits: Limits, qtbot: QtBot
) -> None:
    reset = line(page, "gentle.threads").reset
    assert not reset.isEnabled()
    limits.change("gentle.threads", 2)
    page.refresh()
    qtbot.waitUntil(reset.isEnabled)
    reset.click()
    assert engine.wait_for(ResetLimit) == ResetLimit("gentle.threads")
    qtbot.waitUntil(lambda: not reset.isEnabled())


def test_a_switch_moves_when_the_engine_has_agreed(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    switch = editor(page, "metered", SwitchEditor).switch
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert engine.wait_for(SetLimit) == SetLimit("metered", 1)
    qtbot.waitUntil(switch.isChecked)
    engine.answer(SetLimit, UsageError("This cannot be."))
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "This cannot be." in texts(page.rows["metered"]))
    assert switch.isChecked()


def test_the_live_value_and_what_is_in_force_stand_beside_a_limit(
    page: LimitsPage, limits: Limits, show: Show, qtbot: QtBot
) -> None:
    upload = replace(limits.now["upload_limit"], value=1_500_000, effective=250_000, why="gentle hours")
    limits.now["upload_limit"] = upload
    show(replace(CONTRIBUTING, schedule=ScheduleState(Level.GENTLE)))
    qtbot.waitUntil(lambda: "Now 2.1 Mbit/s · in force: 2 Mbit/s (gentle hours)" in texts(page.rows["upload_limit"]))
    assert "Now 3.4 Mbit/s" in texts(page.rows["download_limit"])
    show(Snapshot(state="idle"))
    assert "Now" not in texts(page.rows["download_limit"])


def test_text_that_is_being_typed_survives_news_from_the_engine(
    page: LimitsPage, limits: Limits, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    entry = editor(page, "cache_size", AmountEditor).entry
    entry.selectAll()
    QTest.keyClicks(entry, "3")
    limits.change("threads", 2)
    page.refresh()
    qtbot.waitUntil(lambda: shown(page, "threads") == "2")
    assert entry.text() == "3"


def test_every_control_says_what_it_is_for(page: LimitsPage) -> None:
    controls = [*page.findChildren(QAbstractButton), *page.findChildren(QLineEdit), *page.findChildren(LimitSlider)]
    named = [control for control in controls if control.isVisibleTo(page)]
    assert len(named) > 20
    assert all(control.accessibleName() for control in named)
    assert editor(page, "gentle.upload_limit", AmountEditor).entry.accessibleName() == "Upload, gentle"


def test_nothing_is_cut_off_in_the_smallest_window(window: MainWindow, page: LimitsPage) -> None:
    window.resize(window.minimumSize())
    QTest.qWait(20)
    assert page.horizontalScrollBar().maximum() == 0


def test_the_programs_to_wait_for_are_added_and_removed(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(SetPrograms, lambda command: list(command.names))
    QTest.keyClicks(page.programs.entry, " steam ")
    QTest.keyClick(page.programs.entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: page.programs.names == ["steam"])
    assert page.programs.entry.text() == ""
    page.programs.entry.setText("blender")
    page.programs.add.click()
    qtbot.waitUntil(lambda: page.programs.names == ["steam", "blender"])
    remove = next(b for b in page.programs.findChildren(Button) if "Do not wait for steam" in b.accessibleName())
    remove.click()
    qtbot.waitUntil(lambda: page.programs.names == ["blender"])
    assert engine.received(SetPrograms)[-1] == SetPrograms(("blender",))


def test_a_name_that_is_none_is_told_and_the_text_stays(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(SetPrograms, UsageError("'/' is not the name of a program."))
    page.programs.entry.setText("/")
    page.programs.add.click()
    qtbot.waitUntil(lambda: "'/' is not the name of a program." in texts(page.programs))
    assert page.programs.entry.text() == "/"


def test_processor_and_memory_have_live_values(
    page: LimitsPage, show: Callable[[Snapshot], None], qtbot: QtBot
) -> None:
    show(replace(CONTRIBUTING, processor=ProcessorUse(37, 1_500_000_000)))
    qtbot.waitUntil(lambda: "Now 37 %" in texts(page.rows["processor_share"]))
    assert "Now 1.5 GB" in texts(page.rows["memory_limit"])


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ("gentle hours", "gentle hours"),
        ("gpu1.share is lower", "the limit of card 1 is lower"),
        ("upload_limit is lower", "“Upload” for all hours is lower"),
        ("something new", "something new"),
        (None, "something restricts it"),
    ],
)
def test_what_restricts_a_limit_is_named(why: str | None, expected: str) -> None:
    assert limits_text.reason(why) == expected

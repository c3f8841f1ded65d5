"""Changes on the limits page: made by hand, asked of the engine, refused or reset."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QMenu
from pytestqt.qtbot import QtBot

from app.limits.editor import ChoiceEditor, NumberEditor, SecretEditor, SwitchEditor, TextEditor
from app.limits.page import LimitsPage
from app.limits.programs_editor import ProgramsEditor
from app.limits.slider import LimitSlider
from app.text import preferences
from app.widgets.basic import Button
from app.window.main_window import MainWindow
from core.api.errors import UsageError, WorldError
from core.api.preferences.commands import ResetPreference, SetPreference
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.value_types import Number
from tests.app.limits.parts import editor, line, shown, texts
from tests.fakes.scripted_engine import ScriptedEngine
from tests.preferences import Chosen


def test_every_preference_has_words_and_a_page() -> None:
    for name, preference in PREFERENCES.items():
        assert preferences.words(name).meaning, name
        assert preferences.page_name(preference.page) != preferences.page_name(""), name


def test_a_limit_for_one_card_is_named_after_it() -> None:
    assert preferences.words("gpu1.temperature").name == "Temperature, card 1"


def test_a_value_is_typed_in_human_units(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    entry = editor(page, "upload_limit", NumberEditor).entry
    assert shown(page, "upload_limit") == "unlimited"
    entry.selectAll()
    QTest.keyClicks(entry, "8 Mbit/s")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    assert engine.wait_for(SetPreference) == SetPreference("upload_limit", 1_000_000)
    qtbot.waitUntil(line(page, "upload_limit").reset.isEnabled)
    assert shown(page, "upload_limit") == "8 Mbit/s"


def test_a_bad_entry_names_the_range_and_goes_back(page: LimitsPage, engine: ScriptedEngine) -> None:
    entry = editor(page, "cache_size", NumberEditor).entry
    entry.selectAll()
    QTest.keyClicks(entry, "1 MB")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    assert "“1 MB” is out of range. Allowed: 64 MiB to 1 PiB." in texts(page.rows["cache_size"])
    assert shown(page, "cache_size") == "10 GiB"
    assert engine.received(SetPreference) == []


def test_escape_gives_an_entry_up(page: LimitsPage, engine: ScriptedEngine) -> None:
    entry = editor(page, "cache_size", NumberEditor).entry
    QTest.keyClicks(entry, "77")
    QTest.keyClick(entry, Qt.Key.Key_Escape)
    assert shown(page, "cache_size") == "10 GiB"
    entry.clearFocus()
    assert engine.received(SetPreference) == []


def test_what_the_engine_refuses_is_told_in_the_row_and_goes_back(
    page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    engine.answer(SetPreference, WorldError("The disk has no room for that."))
    entry = editor(page, "cache_size", NumberEditor).entry
    entry.selectAll()
    QTest.keyClicks(entry, "20 GB")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "The disk has no room for that." in texts(page.rows["cache_size"]))
    assert shown(page, "cache_size") == "10 GiB"
    assert "The disk has no room" not in texts(page.rows["threads"])


def test_the_slider_asks_once_when_it_is_let_go(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    slider = editor(page, "upload_limit", NumberEditor).slider
    right, middle = QPoint(slider.width() - 9, slider.height() // 2), slider.rect().center()
    QTest.mousePress(slider, Qt.MouseButton.LeftButton, pos=right)
    QTest.mouseMove(slider, middle)
    assert shown(page, "upload_limit") != "unlimited"
    assert engine.received(SetPreference) == []
    QTest.mouseRelease(slider, Qt.MouseButton.LeftButton, pos=middle)
    asked = engine.wait_for(SetPreference)
    assert asked.name == "upload_limit"
    assert isinstance(asked.value, int)
    assert 12_500 < asked.value < 125_000_000
    qtbot.waitUntil(line(page, "upload_limit").reset.isEnabled)
    assert len(engine.received(SetPreference)) == 1


def test_arrow_keys_move_the_slider_stop_by_stop(
    page: LimitsPage, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    slider = editor(page, "upload_limit", NumberEditor).slider
    for _ in range(2):
        QTest.keyClick(slider, Qt.Key.Key_Left)
    asked = [engine.wait_for(SetPreference, number).value for number in (1, 2)]
    assert asked == [100_000_000, 75_000_000]
    qtbot.waitUntil(lambda: shown(page, "upload_limit") == "600 Mbit/s")


def test_the_wheel_scrolls_the_page_and_changes_no_limit(page: LimitsPage) -> None:
    slider = editor(page, "upload_limit", NumberEditor).slider
    before, at = slider.value(), slider.rect().center().toPointF()
    nothing = (Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False)
    wheel = QWheelEvent(at, slider.mapToGlobal(at), QPoint(), QPoint(0, -120), *nothing)
    QApplication.sendEvent(slider, wheel)
    assert slider.value() == before
    assert not wheel.isAccepted()


def test_reset_is_there_only_for_what_was_changed(
    page: LimitsPage, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    reset = line(page, "gentle.threads").reset
    assert not reset.isEnabled()
    limits.change("gentle.threads", 2)
    page.refresh()
    qtbot.waitUntil(reset.isEnabled)
    reset.click()
    assert engine.wait_for(ResetPreference) == ResetPreference("gentle.threads")
    qtbot.waitUntil(lambda: not reset.isEnabled())


def test_a_switch_moves_when_the_engine_has_agreed(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    switch = editor(page, "metered", SwitchEditor).switch
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert engine.wait_for(SetPreference) == SetPreference("metered", True)
    qtbot.waitUntil(switch.isChecked)
    engine.answer(SetPreference, UsageError("This cannot be."))
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "This cannot be." in texts(page.rows["metered"]))
    assert switch.isChecked()


def test_text_that_is_being_typed_survives_news_from_the_engine(
    page: LimitsPage, limits: Chosen, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    entry = editor(page, "cache_size", NumberEditor).entry
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
    assert editor(page, "gentle.upload_limit", NumberEditor).entry.accessibleName() == "Upload, gentle"


def test_nothing_is_cut_off_in_the_smallest_window(window: MainWindow, page: LimitsPage) -> None:
    window.resize(window.minimumSize())
    QTest.qWait(20)
    assert page.horizontalScrollBar().maximum() == 0


def test_the_programs_to_wait_for_are_added_and_removed(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    programs = editor(page, "programs", ProgramsEditor)
    QTest.keyClicks(programs.entry, " steam ")
    QTest.keyClick(programs.entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: programs.names == ["steam"])
    assert programs.entry.text() == ""
    programs.entry.setText("blender")
    programs.add.click()
    qtbot.waitUntil(lambda: programs.names == ["steam", "blender"])
    remove = next(b for b in programs.findChildren(Button) if "Do not wait for steam" in b.accessibleName())
    remove.click()
    qtbot.waitUntil(lambda: programs.names == ["blender"])
    assert engine.received(SetPreference)[-1] == SetPreference("programs", ("blender",))


def test_the_text_of_a_refused_program_stays(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.answer(SetPreference, UsageError("'/' is not the name of a program."))
    programs = editor(page, "programs", ProgramsEditor)
    programs.entry.setText("/")
    programs.add.click()
    qtbot.waitUntil(lambda: "'/' is not the name of a program." in texts(page.rows["programs"]))
    assert programs.entry.text() == "/"


def test_a_name_is_typed_and_an_empty_one_is_none(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    entry = editor(page, "display_name", TextEditor).entry
    QTest.keyClicks(entry, " Bee ")
    QTest.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: entry.text() == "Bee")
    entry.selectAll()
    QTest.keyClick(entry, Qt.Key.Key_Delete)
    QTest.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(engine.received(SetPreference)) == 2)
    assert [command.value for command in engine.received(SetPreference)] == ["Bee", ""]


def test_a_currency_is_chosen_from_a_list(page: LimitsPage, engine: ScriptedEngine, qtbot: QtBot) -> None:
    combo = editor(page, "currency", ChoiceEditor).combo
    assert combo.currentText() == "not set"
    combo.setCurrentIndex(combo.findData("EUR"))
    combo.activated.emit(combo.currentIndex())
    assert engine.wait_for(SetPreference) == SetPreference("currency", "EUR")
    qtbot.waitUntil(lambda: combo.currentText() == "EUR")


def test_an_own_proxy_has_an_address_and_a_password_that_is_never_shown(
    page: LimitsPage, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    assert page.rows["proxy_password"].isHidden()
    limits.change("proxy", "own")
    page.refresh()
    qtbot.waitUntil(page.rows["proxy_password"].isVisible)
    entry = editor(page, "proxy_password", SecretEditor).entry
    assert (entry.text(), entry.placeholderText()) == ("", "not set")
    # The engine keeps the secret, and says where.
    engine.answer(SetPreference, lambda _: limits.change("proxy_password", "keyring"))
    entry.setFocus()
    QTest.keyClicks(entry, "s3cret")
    assert entry.displayText() == "\u25cf" * 6
    QTest.keyClick(entry, Qt.Key.Key_Return)
    assert engine.wait_for(SetPreference) == SetPreference("proxy_password", "s3cret")
    qtbot.waitUntil(lambda: (entry.text(), entry.placeholderText()) == ("", "set"))
    assert "pass no proxy" in texts(page.rows["proxy"])


def test_every_slider_whose_zero_is_a_word_has_a_switch_for_it_beside_it(page: LimitsPage) -> None:
    words = {}
    for name, declared in PREFERENCES.items():
        if not isinstance(declared.type, Number):
            continue
        found = editor(page, name, NumberEditor)
        has_switch = not found.zero.isHidden()
        assert has_switch == (bool(declared.type.zero) and not found.slider.isHidden()), name
        if has_switch:
            words[name] = found.zero.toolTip()
    assert words["threads"] == words["memory_limit"] == "automatic"
    assert words["upload_limit"] == words["data_cap"] == "unlimited"
    assert words["idle_gpu"] == words["busy_processor"] == "do not wait"


def test_the_switch_turns_a_limit_off_and_on_again(
    page: LimitsPage, engine: ScriptedEngine, limits: Chosen, qtbot: QtBot
) -> None:
    found = editor(page, "upload_limit", NumberEditor)
    assert (found.zero.isChecked(), shown(page, "upload_limit")) == (True, "unlimited")
    QTest.mouseClick(found.zero, Qt.MouseButton.LeftButton)
    assert engine.wait_for(SetPreference) == SetPreference("upload_limit", 125_000_000)
    qtbot.waitUntil(lambda: not found.zero.isChecked())
    assert shown(page, "upload_limit") == "1 Gbit/s"
    QTest.mouseClick(found.zero, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: limits.now["upload_limit"].value == 0)
    qtbot.waitUntil(found.zero.isChecked)
    # The slider alone chooses a value too.
    QTest.keyClick(found.slider, Qt.Key.Key_Left)
    qtbot.waitUntil(lambda: not found.zero.isChecked())
    assert shown(page, "upload_limit") not in {"unlimited", "1 Gbit/s"}


def test_a_right_click_on_a_limit_offers_the_default_of_each_of_its_values(
    page: LimitsPage, limits: Chosen, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    limits.change("gentle.processor_share", 30)
    page.refresh()
    qtbot.waitUntil(line(page, "gentle.processor_share").reset.isEnabled)
    row = page.rows["processor_share"]
    at = QPoint(10, 10)
    QApplication.sendEvent(row, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, row.mapToGlobal(at)))
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    full, gentle = menu.actions()
    assert (full.text(), full.isEnabled()) == ("Back to the default: Processor use, full", False)
    assert gentle.text() == "Back to the default: Processor use, gentle"
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(gentle).center())
    assert engine.wait_for(ResetPreference) == ResetPreference("gentle.processor_share")

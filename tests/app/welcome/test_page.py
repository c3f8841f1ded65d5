"""The first run: what a new volunteer sees, and what comes of a comfort level."""

from collections.abc import Iterator
from functools import partial

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.settings.page import SettingsPage
from app.welcome import hardware_summary, usage_presets
from app.welcome.page import WelcomePage
from app.welcome.usage_presets import UsagePreset
from app.widgets.basic import Label
from app.window.main_window import MainWindow
from core.api.errors import WorldError
from core.api.intent import Contribute
from core.api.message import Message
from core.api.preferences.commands import SetPreference
from core.api.preferences.preferences import preference_named
from core.api.preferences.schedule import CELLS
from core.api.preferences.week_text import preset_cells
from core.api.project.projects import ListProjects, ProjectInfo
from core.api.sensors import GetSensors, SensorInfo
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine

PRACTICE = ProjectInfo("practice", "Practice", "A tiny model.", "Idlehive", "CC0-1.0", "builtin", practice=True)
BIRDS = ProjectInfo("birds", "Birdsong", "Voices of birds.", "Ornithologists", "MIT", "https://example.org/p.json")


@pytest.fixture
def first(engine: ScriptedEngine, link: EngineLink, profile: Profile, qtbot: QtBot) -> Iterator[MainWindow]:
    """A window that this profile never had before."""
    engine.answer(ListProjects, [PRACTICE, BIRDS])
    engine.answer(GetSensors, [SensorInfo("gpu", Message("gpus", {"gpus": ["RTX 3060"]}), True)])
    window = MainWindow(link, Settings(profile))
    window.show()
    qtbot.waitExposed(window)
    engine.show(replace(link.snapshot or Snapshot(state="idle"), version="0.1.1"))
    yield window
    window.hide()
    window.deleteLater()


def page_of(window: MainWindow, qtbot: QtBot) -> WelcomePage:
    qtbot.waitUntil(lambda: bool(window.findChildren(WelcomePage)))
    page = window.findChildren(WelcomePage)[0]
    qtbot.waitUntil(lambda: len(page.projects) == 2)
    return page


def test_what_the_sensors_say_does_not_grow_old(first: MainWindow, engine: ScriptedEngine, qtbot: QtBot) -> None:
    page = page_of(first, qtbot)
    for seconds in (35.0, 2.0):
        engine.answer(GetSensors, [SensorInfo("presence", Message("last_input", {"ago": seconds}), True)])
        qtbot.waitUntil(partial(says, page, f"Mouse or keyboard were last used {seconds:.0f} s ago."), timeout=15_000)


def says(page: WelcomePage, text: str) -> bool:
    return text in {label.text().replace(SPACE, " ") for label in page.findChildren(Label)}


def test_one_press_contributes_gently_to_the_practice_project(
    first: MainWindow, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page = page_of(first, qtbot)
    QTest.keyClick(page.start, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: engine.received(Contribute) == [Contribute("practice")])
    assert engine.received(SetPreference)[0] == SetPreference("week", "g" * CELLS)
    qtbot.waitUntil(lambda: first.home.isVisible() and not first.findChildren(WelcomePage))


def test_three_clicks_choose_level_and_project_and_begin(
    first: MainWindow, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page = page_of(first, qtbot)
    page.levels[UsagePreset.NIGHTS].click()
    page.projects["birds"].click()
    page.start.click()
    qtbot.waitUntil(lambda: engine.received(Contribute) == [Contribute("birds", override="none")])
    assert engine.received(SetPreference) == [
        SetPreference("week", preset_cells("nights")),
        SetPreference("idle_processor", 180),
        SetPreference("idle_gpu", 180),
    ]


def test_level_and_project_are_chosen_apart_from_each_other(first: MainWindow, qtbot: QtBot) -> None:
    page = page_of(first, qtbot)
    page.projects["birds"].click()
    page.levels[UsagePreset.AWAY].click()
    assert (page.level, page.project) == (UsagePreset.AWAY, "birds")


def test_what_was_found_in_the_machine_is_shown(first: MainWindow, qtbot: QtBot) -> None:
    page = page_of(first, qtbot)
    qtbot.waitUntil(lambda: "RTX 3060." in [label.text() for label in page.findChildren(Label)])


def test_a_refusal_is_told_and_the_button_can_be_pressed_again(
    first: MainWindow, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page = page_of(first, qtbot)
    engine.answer(SetPreference, WorldError("The disk is full."))
    page.start.click()
    qtbot.waitUntil(lambda: "The disk is full." in [label.text() for label in page.findChildren(Label)])
    assert page.start.isEnabled()
    assert engine.received(Contribute) == []


def test_looking_around_first_keeps_the_chosen_preset_and_contributes_to_nothing(
    first: MainWindow, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    page = page_of(first, qtbot)
    page.levels[UsagePreset.NIGHTS].click()
    page.later.click()
    qtbot.waitUntil(first.home.isVisible)
    first.welcome()
    assert not first.findChildren(WelcomePage) or not first.findChildren(WelcomePage)[0].isVisible()
    assert engine.received(SetPreference)[0] == SetPreference("week", preset_cells("nights"))
    assert engine.received(Contribute) == []


def test_the_welcome_can_be_shown_again_from_the_settings(first: MainWindow, qtbot: QtBot) -> None:
    page_of(first, qtbot).later.click()
    qtbot.waitUntil(first.home.isVisible)
    first.open_named("settings")
    settings = first._stack.currentWidget()
    assert isinstance(settings, SettingsPage)
    settings.welcome.click()
    qtbot.waitUntil(lambda: isinstance(first._stack.currentWidget(), WelcomePage))


@pytest.mark.parametrize("level", UsagePreset)
def test_every_comfort_level_has_words_and_settings_that_the_engine_knows(level: UsagePreset) -> None:
    assert all(usage_presets.words(level))
    for command in usage_presets.settings(level):
        assert isinstance(command, SetPreference)
        assert preference_named(command.name).check(command.value) == command.value


def test_who_sets_everything_alone_gets_nothing_set() -> None:
    assert usage_presets.settings(UsagePreset.CUSTOM) == ()


def test_only_nights_do_not_begin_in_the_afternoon() -> None:
    assert {level: usage_presets.contribution(level, "p").override for level in UsagePreset} == {
        UsagePreset.GENTLE: "next_edge",
        UsagePreset.AWAY: "next_edge",
        UsagePreset.NIGHTS: "none",
        UsagePreset.CUSTOM: "next_edge",
    }


def test_a_system_that_does_not_tell_its_memory_has_no_line_for_it() -> None:
    assert [name for name, _ in hardware_summary.lines(hardware_summary.Computer(4, 0), [])] == ["Processor"]

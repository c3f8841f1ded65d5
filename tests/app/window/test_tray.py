"""The tray icon's menu; how it looks in a panel is seen with real ones."""

import time
from collections.abc import Callable, Iterator
from typing import get_args

import pytest
from msgspec.structs import replace
from PySide6.QtGui import QColor, Qt
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from app.link.engine_link import EngineLink, Link
from app.text.status import Tone
from app.widgets.icons import tray as tray_icon
from app.window.tray import Tray
from core.api.intent import Pause, Resume
from core.api.protocol import Command
from core.api.snapshot import Snapshot
from tests.app.contrast import contrast
from tests.app.snapshots import CONTRIBUTING, IDLE, NOW, SILENT, STARTING, failed, paused
from tests.app.spaces import SPACE
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]


@pytest.fixture
def performed() -> list[Command]:
    return []


@pytest.fixture
def tray(link: EngineLink, performed: list[Command]) -> Iterator[Tray]:
    made = Tray(link, performed.append)
    yield made
    made.icon.hide()
    made.menu.deleteLater()
    made.deleteLater()


def test_the_menu_says_the_state_and_pauses(tray: Tray, show: Show, performed: list[Command]) -> None:
    show(CONTRIBUTING)
    assert tray.state.text() == "Contributing to Birdsong"
    assert tray.icon.toolTip().splitlines()[0] == "Idlehive: Contributing to Birdsong"
    tray.main.trigger()
    tray.durations.actions()[1].trigger()
    assert performed == [Pause(), Pause(3600)]
    assert tray.durations.title() == "Pause for…"


def test_a_name_is_neither_a_shortcut_nor_html(tray: Tray, show: Show) -> None:
    show(replace(CONTRIBUTING, project_name="Birds & <b>bees</b>"))
    assert "Birds && <b>bees</b>" in tray.state.text()  # Qt shows one of two
    assert "Birds & " in tray.icon.toolTip()
    assert not Qt.mightBeRichText(tray.icon.toolTip())


def test_a_snooze_shows_the_time_left_and_resumes(tray: Tray, show: Show, performed: list[Command]) -> None:
    show(paused(time.time() + 42 * 60))
    assert "42\N{NO-BREAK SPACE}min left" in tray.state.text()
    tray.main.trigger()
    assert performed == [Resume()]


@pytest.mark.parametrize(
    ("snapshot", "tone"),
    [
        (CONTRIBUTING, "good"),
        (STARTING, "working"),
        (paused(), "paused"),
        (failed(None), "problem"),
        (failed(NOW), "working"),
    ],
)
def test_each_state_has_its_icon(tray: Tray, show: Show, snapshot: Snapshot, tone: Tone) -> None:
    show(snapshot)
    wanted = tray_icon(tone)
    assert tray.icon.icon().pixmap(22).toImage() == wanted.pixmap(22).toImage()


def test_every_icon_can_be_told_from_the_others_at_16_pixels() -> None:
    tones: tuple[Tone, ...] = ("good", "working", "quiet", "paused", "problem")
    pictures = [tray_icon(tone).pixmap(16).toImage() for tone in tones]
    assert all(first != second for index, first in enumerate(pictures) for second in pictures[index + 1 :])
    assert all(not picture.isNull() and picture.pixelColor(8, 1).alpha() > 60 for picture in pictures)


@pytest.mark.parametrize("panel", ["#FFFFFF", "#F0F0F0", "#2B2B2B", "#101010"])
@pytest.mark.parametrize("tone", get_args(Tone))
def test_every_icon_is_seen_on_light_and_dark_panels(tone: Tone, panel: str) -> None:
    picture = tray_icon(tone).pixmap(22).toImage()
    pixels = [picture.pixelColor(x, y) for x in range(22) for y in range(22)]
    seen = [pixel for pixel in pixels if pixel.alpha() > 200 and contrast(pixel, QColor(panel)) >= 3]
    assert len(seen) > 40


def test_quitting_says_what_it_stops(tray: Tray, show: Show, link: EngineLink) -> None:
    show(CONTRIBUTING)
    assert tray.quit.text() == "Quit (ends contributing too)"
    show(replace(IDLE, project="birds"))
    assert tray.quit.text() == "Quit"


def test_without_an_engine_nothing_can_be_ordered(
    tray: Tray, show: Show, link: EngineLink, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    show(CONTRIBUTING)
    engine.stop()
    qtbot.waitUntil(lambda: link.state is Link.GONE)
    assert tray.state.text() == "The engine has ended."
    assert not tray.main.isEnabled()
    assert not tray.durations.menuAction().isEnabled()
    assert tray.quit.isEnabled()


def test_a_click_toggles_the_window_and_the_menu_opens_and_quits(tray: Tray, qtbot: QtBot) -> None:
    with qtbot.waitSignal(tray.toggled):
        tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
    with qtbot.waitSignal(tray.opened):
        tray.open.trigger()
    with qtbot.waitSignal(tray.quit_asked):
        tray.quit.trigger()


def test_menu_and_tool_tip_have_the_rates_of_a_session(tray: Tray, show: Show) -> None:
    show(CONTRIBUTING)
    assert tray.traffic.text().replace(SPACE, " ") == "152 samples/s, 2.1 Mbit/s up, 3.4 Mbit/s down"
    assert tray.traffic.text() in tray.icon.toolTip()
    show(paused(time.time() + 42 * 60))
    assert not tray.traffic.isVisible()
    assert tray.icon.toolTip().splitlines()[1].replace(SPACE, " ") == "42 min left"


def test_a_session_without_news_is_not_green_and_has_no_rates(tray: Tray, show: Show) -> None:
    show(SILENT)
    assert tray.icon.toolTip().startswith("Idlehive: No news from the session since ")
    assert not tray.traffic.isVisible()
    assert tray.icon.icon().pixmap(22).toImage() == tray_icon("quiet").pixmap(22).toImage()

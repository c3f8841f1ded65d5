"""Full screen: a real window under a real window manager, and games that say so themselves."""

import pytest

from core.api.message import Message
from core.api.sensors import IN_USE
from core.conditions.bus import Bus
from core.conditions.full_screen import LINGER, ActiveWindow, FullScreen, FullScreenSensor, GameMode
from core.conditions.idle.x11 import X11
from core.conditions.source import NotAvailable
from tests.conditions.desktop.conftest import Clock
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.conditions.desktop.processes import end
from tests.conditions.desktop.screen import Screen

GAMES, GAMES_PATH = "com.feralinteractive.GameMode", "/com/feralinteractive/GameMode"


def game_mode(bus: PrivateBus, games: int) -> Service:
    service = bus.service(GAMES, GAMES_PATH)
    service.declare(ClientCount=("i", games))
    return service


GAME = Message("game_running")


def sensor(clock: Clock) -> FullScreenSensor:
    return FullScreenSensor(ActiveWindow(X11()), GameMode(Bus("SESSION")), clock)


def test_a_window_that_fills_the_screen_is_named(screen: Screen, x11: X11) -> None:
    source = ActiveWindow(x11)
    assert source.read() is None
    window = screen.open_window("Level 1", full_screen=True)
    assert source.read() == Message("screen_filled_by", {"program": "Arena"})
    end(window)
    assert source.read() is None


def test_an_ordinary_window_in_front_is_not_full_screen(screen: Screen, x11: X11) -> None:
    screen.open_window("Level 1", full_screen=True)
    screen.open_window("Notes", full_screen=False)
    assert ActiveWindow(x11).read() is None


def test_games_register_themselves_with_game_mode(bus: PrivateBus) -> None:
    service, source = game_mode(bus, 0), GameMode(Bus("SESSION"))
    assert source.read() is None
    service.set(GAMES_PATH, GAMES, ClientCount=("i", 2))
    assert source.read() == GAME


def test_game_mode_is_not_started_by_asking(bus: PrivateBus) -> None:
    with pytest.raises(NotAvailable, match="service_not_running"):
        GameMode(Bus("SESSION")).read()


def test_a_game_is_seen_at_once_and_missed_after_a_while(bus: PrivateBus, clock: Clock) -> None:
    service, both = game_mode(bus, 1), sensor(clock)
    playing = FullScreen(GAME)
    assert both.read() == playing
    service.set(GAMES_PATH, GAMES, ClientCount=("i", 0))
    clock.now += LINGER - 1
    assert both.read() == playing
    clock.now += 1
    assert both.read() == FullScreen()


def test_a_game_is_seen_although_the_display_is_not(bus: PrivateBus, clock: Clock) -> None:
    game_mode(bus, 1)
    both = sensor(clock)
    assert both.read() == FullScreen(GAME)
    info = both.info()
    assert (info.known, info.in_use, info.value) == (True, ("GameMode",), Message("screen", {"what": GAME}))
    assert [attempt.outcome for attempt in info.tried] == [Message("variable_missing", {"variable": "DISPLAY"}), IN_USE]


def test_nobody_to_ask_is_told_and_stands_against_nothing(clock: Clock) -> None:
    blind = sensor(clock)
    assert blind.read() == FullScreen()
    assert (blind.info().known, blind.info().in_use) == (False, ())

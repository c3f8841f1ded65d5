"""Changes that are announced: who watches for the volunteer's return need not ask again and again."""

import os
import time
from collections.abc import Iterator

import pytest

from core.conditions.bus import Bus
from core.conditions.full_screen import ActiveWindow, FullScreenSensor, GameMode
from core.conditions.idle.linux import ScreenSaver, XScreenSaver
from core.conditions.idle.x11 import X11
from core.conditions.machine import Machine
from core.conditions.presence import PresenceSensor
from tests.conditions.desktop.dbus_services import PrivateBus
from tests.conditions.desktop.processes import end
from tests.conditions.desktop.screen import Screen
from tests.conditions.desktop.test_full_screen import GAME, GAMES, GAMES_PATH, game_mode
from tests.conditions.desktop.test_presence import screen_saver
from tests.waiting import wait_for

LONG = 20.0
"""Seconds that nobody has to wait."""
_IDLE = 0.6
"""Seconds without input, after which the server announces the next one."""


@pytest.fixture
def wakeup() -> Iterator[int]:
    """A descriptor that nobody writes to."""
    reader, writer = os.pipe()
    yield reader
    os.close(reader)
    os.close(writer)


def machine_with(x11: X11, bus: Bus) -> Machine:
    """What may stop a session at any moment."""
    tick = time.monotonic
    presence = PresenceSensor([XScreenSaver(x11), ScreenSaver(bus)], time.time, tick)
    full_screen = FullScreenSensor(ActiveWindow(x11), GameMode(bus), tick)
    return Machine({"presence": presence, "full_screen": full_screen}, listeners=(x11, bus))


def seconds_of(machine: Machine, wakeup: int, longest: float) -> float:
    began = time.monotonic()
    machine.wait(wakeup, longest)
    return time.monotonic() - began


def until_quiet(machine: Machine, wakeup: int) -> None:
    """Read until nothing more is announced."""

    def is_quiet() -> bool:
        machine.read()
        return seconds_of(machine, wakeup, 0.3) >= 0.3

    wait_for(is_quiet)


def test_input_ends_the_wait_again_and_again(screen: Screen, x11: X11, wakeup: int) -> None:
    machine = machine_with(x11, Bus("SESSION"))
    for _ in range(3):
        wait_for(lambda: XScreenSaver(x11).read() > _IDLE, what="a while without input")
        until_quiet(machine, wakeup)
        assert machine.announces
        screen.touch()
        assert seconds_of(machine, wakeup, LONG) < LONG / 2


def test_what_is_announced_during_a_reading_is_not_lost(screen: Screen, x11: X11, wakeup: int) -> None:
    machine = machine_with(x11, Bus("SESSION"))
    wait_for(lambda: XScreenSaver(x11).read() > _IDLE, what="a while without input")
    until_quiet(machine, wakeup)
    screen.touch()
    # Its answers come behind the event.
    ActiveWindow(x11).read()
    assert seconds_of(machine, wakeup, LONG) < LONG / 2


def test_a_window_that_fills_the_screen_ends_the_wait(screen: Screen, x11: X11, wakeup: int) -> None:
    machine = machine_with(x11, Bus("SESSION"))
    until_quiet(machine, wakeup)
    screen.open_window("Level 1", full_screen=True)
    assert seconds_of(machine, wakeup, LONG) < LONG / 2
    assert machine.read().full_screen.what is not None


def test_a_window_that_has_gone_confuses_no_answer(screen: Screen, x11: X11) -> None:
    """The server's complaint about it comes before the next answer."""

    window = screen.open_window("Notes", full_screen=False)
    active = x11.ask(lambda display: display.numbers(display.root, "_NET_ACTIVE_WINDOW"))
    x11.ask(lambda display: display.watch(0x7FFFFFF))
    assert x11.ask(lambda display: display.numbers(display.root, "_NET_ACTIVE_WINDOW")) == active
    end(window)
    assert ActiveWindow(x11).read() is None
    assert XScreenSaver(x11).read() < LONG


def test_a_game_ends_the_wait_although_its_service_started_later(bus: PrivateBus, x11: X11, wakeup: int) -> None:
    machine = machine_with(x11, Bus("SESSION"))
    screen_saver(bus, 4000)
    until_quiet(machine, wakeup)
    service = game_mode(bus, 0)
    until_quiet(machine, wakeup)
    service.set(GAMES_PATH, GAMES, ClientCount=("i", 1))
    assert seconds_of(machine, wakeup, LONG) < LONG / 2
    assert machine.read().full_screen.what == GAME


def test_where_input_is_not_announced_it_has_to_be_asked_for(bus: PrivateBus, x11: X11) -> None:
    screen_saver(bus, 4000)
    machine = machine_with(x11, Bus("SESSION"))
    machine.read()
    assert not machine.announces


def test_a_display_that_ends_is_noticed_and_asked_for_no_more(screen: Screen, x11: X11, wakeup: int) -> None:
    machine = machine_with(x11, Bus("SESSION"))
    until_quiet(machine, wakeup)
    screen.end_server()
    assert seconds_of(machine, wakeup, LONG) < LONG / 2
    assert x11.files == []

"""How fast a session yields when the volunteer comes back, or a program fills the screen.

The practice project under a real engine on an X server of its own (Xvfb, openbox, xdotool), with `idle_processor` at
one second. Again and again the pointer is moved while it contributes; measured is the time from that input, by the
server's own count, until the engine holds the session. Then windows that fill the screen are opened, a fifth as often,
and the time counts from the moment the window manager says so; and games register with a GameMode of python-dbusmock.

Run it with `.venv/bin/python -m benchmarks.comeback [TIMES]`.
"""

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from benchmarks.pauses import tell
from benchmarks.practice import Practice, contributing
from core.api.preferences.commands import SetPreference
from core.conditions.full_screen import ActiveWindow
from core.conditions.idle.x11 import X11
from tests.conditions.desktop.dbus_services import PrivateBus, Service
from tests.conditions.desktop.processes import end
from tests.conditions.desktop.screen import Screen

TIMES = 50
_GAMES = "com.feralinteractive.GameMode"
_IDLE = 1
"""Seconds without input after which the session goes on."""


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with Screen() as screen, PrivateBus() as bus:
        os.environ.update(DISPLAY=screen.name, XAUTHORITY=str(screen.authority))
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        os.environ.pop("WAYLAND_DISPLAY", None)
        with contributing() as practice:
            practice.engine.request(SetPreference("idle_processor", _IDLE), object)
            delays = [1000 * held_after(practice, screen.touch) for _ in range(times)]
            practice.engine.request(SetPreference("idle_processor", 0), object)
            windows = [1000 * play(practice, screen) for _ in range(times // 5)]
            service = bus.service(_GAMES, "/" + _GAMES.replace(".", "/"))
            service.declare(ClientCount=("i", 0))
            games = [1000 * register(practice, service) for _ in range(times // 5)]
    print(f"{times} times, and {times // 5} windows and games")
    tell("back: holding after", delays, "ms")
    tell("window: holding after", windows, "ms")
    tell("game: holding after", games, "ms")


def register(practice: Practice, service: Service) -> float:
    """As `held_after`, for a game that registers and goes again."""
    try:
        return held_after(practice, lambda: service.set(service.path, service.name, ClientCount=("i", 1)))
    finally:
        service.set(service.path, service.name, ClientCount=("i", 0))


def play(practice: Practice, screen: Screen) -> float:
    """Seconds from the moment at which a window fills the screen until the engine holds the session."""
    practice.until("contributing")
    opening = threading.Thread(target=lambda: windows.append(screen.open_window("Game", full_screen=True)))
    windows: list[subprocess.Popen[bytes]] = []
    x11 = X11()
    opening.start()
    try:
        wait_while(lambda: not ActiveWindow(x11).read())
        began = time.perf_counter()
        wait_while(lambda: practice.snapshot().state != "holding")
        return time.perf_counter() - began
    finally:
        opening.join()
        end(windows[0])
        x11.close()


def wait_while(condition: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + 20
    while condition():
        if time.perf_counter() > deadline:
            raise SystemExit("The engine did not notice.")
        time.sleep(0.001)


def held_after(practice: Practice, act: Callable[[], None]) -> float:
    """Seconds from what the volunteer does until the engine holds the session, its answer to the question included."""
    practice.until("contributing")
    time.sleep(random.uniform(0.3, 0.8))
    began = time.perf_counter()
    act()
    touched = time.perf_counter()
    # It lies somewhere in the life of the program that did it.
    wait_while(lambda: practice.snapshot().state != "holding")
    return time.perf_counter() - (began + touched) / 2


if __name__ == "__main__":
    main()

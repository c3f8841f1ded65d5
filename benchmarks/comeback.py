"""How fast a session yields when the volunteer comes back.

The practice project under a real engine on an X server of its own (Xvfb, openbox, xdotool), with `idle_processor` at
one second. Again and again the pointer is moved while it contributes; measured is the time from that input, by the
server's own count, until the engine holds the session.

Run it with `.venv/bin/python -m benchmarks.comeback [TIMES]`.
"""

import os
import random
import sys
import time

from benchmarks.pauses import tell
from benchmarks.practice import Practice, contributing
from core.api.messages import SetLimit
from tests.conditions.desktop.screen import Screen

TIMES = 50
_IDLE = 1
"""Seconds without input after which the session goes on."""


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with Screen() as screen:
        os.environ.update(DISPLAY=screen.name, XAUTHORITY=str(screen.authority))
        os.environ.pop("WAYLAND_DISPLAY", None)
        with contributing() as practice:
            practice.engine.request(SetLimit("idle_processor", _IDLE), object)
            delays = [1000 * come_back(practice, screen) for _ in range(times)]
    print(f"{times} times")
    tell("holding after", delays, "ms")


def come_back(practice: Practice, screen: Screen) -> float:
    """Seconds from the input until the engine holds the session, its own answer to the question included."""
    practice.until("contributing")
    time.sleep(random.uniform(0.3, 0.8))
    began = time.perf_counter()
    screen.touch()
    touched = time.perf_counter()
    # The input lies somewhere in the life of the program that made it; its end is when it was answered by the server.
    while practice.snapshot().state != "holding":
        if time.perf_counter() > touched + 5:
            raise SystemExit("The engine did not notice the input.")
        time.sleep(0.001)
    return time.perf_counter() - (began + touched) / 2


if __name__ == "__main__":
    main()

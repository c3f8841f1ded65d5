"""What the engine takes of the processor while a session computes and the volunteer may come back at any moment.

A real engine with all its sensors on an X server of its own (Xvfb, openbox); a scripted trainer, which takes nothing,
reports twice a second and ends an epoch every four seconds. By thread: the event loop, the sensors and the rest. Then
the pointer is moved again and again: how long, by the server's own count, until the engine holds the session.

Run it with `.venv/bin/python -m benchmarks.engine [SECONDS [TIMES]]`.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.pauses import tell
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.protocol import GetSnapshot
from core.api.snapshot import Snapshot
from core.client.engine_client import EngineClient
from core.client.profile import Profile
from core.conditions.idle.linux import XScreenSaver
from core.conditions.idle.x11 import X11
from tests.conditions.desktop.screen import Screen
from tests.fakes.running_engine import RunningEngine

SECONDS, TIMES = 30.0, 20
_SETTLES, _IDLE = 5.0, 1
"""Seconds until it is measured, and those without input after which the session goes on."""


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    times = int(sys.argv[2]) if len(sys.argv) > 2 else TIMES
    with Screen() as screen, tempfile.TemporaryDirectory(prefix="hive") as folder:
        os.environ.update(DISPLAY=screen.name, XAUTHORITY=str(screen.authority))
        os.environ.pop("WAYLAND_DISPLAY", None)
        engine = RunningEngine(Profile(Path(folder) / "home"), Path(folder))
        engine.blind = False
        engine.script(every=0.5, samples=40, epoch_samples=320)
        try:
            engine.start()
            engine.ask(SetPreference("busy_processor", 0), PreferenceInfo)
            engine.contribute()
            time.sleep(_SETTLES)
            before, began = by_thread(engine.pid), time.monotonic()
            time.sleep(seconds)
            passed, after = time.monotonic() - began, by_thread(engine.pid)
            engine.ask(SetPreference("idle_processor", _IDLE), PreferenceInfo)
            client = engine.client()
            delays = [1000 * held_after(client, screen) for _ in range(times)]
        finally:
            engine.clean_up()
    used = sorted((100 * (after[one] - before.get(one, 0.0)) / passed for one in after), reverse=True)
    print(f"engine: {sum(used):.2f} % of a core; its threads " + ", ".join(f"{one:.2f}" for one in used))
    tell("held after", delays, "ms")


def held_after(engine: EngineClient, screen: Screen) -> float:
    """Seconds from an input while the session computes."""
    while engine.request(GetSnapshot(), Snapshot).state != "contributing":
        time.sleep(0.02)
    time.sleep(0.3)
    x11 = X11()
    XScreenSaver(x11).read()
    screen.touch()
    began = time.perf_counter() - XScreenSaver(x11).read()
    while engine.request(GetSnapshot(), Snapshot).state != "holding":
        pass
    x11.close()
    return time.perf_counter() - began


def by_thread(pid: int) -> dict[int, float]:
    """Processor seconds of each thread, to the microsecond (proc(5), schedstat)."""
    return {
        thread.id: int(Path(f"/proc/{pid}/task/{thread.id}/schedstat").read_text().split()[0]) / 1e9
        for thread in psutil.Process(pid).threads()
    }


if __name__ == "__main__":
    main()

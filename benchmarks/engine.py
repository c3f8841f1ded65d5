"""What the engine takes of the processor while a session computes and the volunteer may come back at any moment.

A real engine with all its sensors on an X server of its own (Xvfb, openbox); a scripted trainer, which takes nothing,
reports twice a second and ends an epoch every four seconds. By thread: the event loop, the sensors and the rest.

Run it with `.venv/bin/python -m benchmarks.engine [SECONDS]`.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import psutil

from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.client.profile import Profile
from tests.conditions.desktop.screen import Screen
from tests.fakes.running_engine import RunningEngine

SECONDS = 30.0
_SETTLES = 5.0


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
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
        finally:
            engine.clean_up()
    used = sorted((100 * (after[one] - before.get(one, 0.0)) / passed for one in after), reverse=True)
    print(f"engine: {sum(used):.2f} % of a core; its threads " + ", ".join(f"{one:.2f}" for one in used))


def by_thread(pid: int) -> dict[int, float]:
    """Processor seconds of each thread, to the microsecond (proc(5), schedstat)."""
    return {
        thread.id: int(Path(f"/proc/{pid}/task/{thread.id}/schedstat").read_text().split()[0]) / 1e9
        for thread in psutil.Process(pid).threads()
    }


if __name__ == "__main__":
    main()

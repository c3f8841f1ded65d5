"""What the window costs while it is open: `python -m benchmarks.desktop [--seconds 60] [--snapshots 7200]`.

A real window under Xvfb with a real tray, and an engine that is scripted so that it contributes at all times: a new
snapshot twice a second, an epoch every ten seconds. Prints its memory on Home and after every page was visited, the
processor time that it takes live on Home and hidden in the tray, and its memory before and after an hour's snapshots
that come ten times as fast. Linux, with the test programs of the set-up.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from msgspec.structs import replace

from benchmarks.footprint import memory
from core.api.message import Message
from core.api.protocol import Event
from core.client.profile import Profile
from tests.app.full_engine import fill
from tests.app.snapshots import CONTRIBUTING
from tests.end_to_end.machine import wait_for
from tests.end_to_end.window.x_display import HEIGHT, XDisplay
from tests.fakes.scripted_engine import ScriptedEngine

_PAGES = 7
_TICK = 0.5
_SETTLES = 3.0
_PROGRAM = "import sys; from app.window.application import open_app; sys.exit(open_app([]))"


class Life:
    """Snapshots as a contributing engine sends them, each different from the last."""

    def __init__(self, engine: ScriptedEngine) -> None:
        self._engine = engine
        self._number = 0

    def live(self, seconds: float, tick: float = _TICK) -> None:
        """Send them for so long."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.step()
            time.sleep(tick)

    def step(self) -> None:
        self._number += 1
        epoch, part = divmod(self._number, 20)
        progress = replace(
            CONTRIBUTING.progress,
            epoch=1284 + epoch,
            epoch_samples=200 * part,
            own_epoch_samples=20 * part,
            samples=48_210 + 20 * self._number,
            samples_per_second=150 + part / 10,
        )
        self._engine.show(replace(CONTRIBUTING, progress=progress))
        if part == 0:
            message = Message("epoch_done", {"epoch": 1284 + epoch, "samples": 369})
            self._engine.tell(Event("epoch_done", message, time.time(), "birds", 1284 + epoch, 2.4))


def measure(seconds: float, snapshots: int) -> None:
    with TemporaryDirectory(prefix="hive") as folder, XDisplay("xembed", notifications=True) as display:
        profile = Profile(Path(folder))
        profile.prepare()
        (profile.path / "window.ini").write_text("[told]\nwelcome=yes\ntray=yes\nepoch=yes\n")
        with ScriptedEngine(profile) as engine, window(profile, display) as process:
            fill(engine)
            life = Life(engine)
            life.live(10)
            print(f"window open on Home: {memory(process.pid):.1f} MiB")
            print(f"processor, Home open and live: {share(process, lambda: life.live(seconds)):.2f} % of a core")
            for page in range(_PAGES):
                display.press(f"ctrl+{page + 1}")
                life.live(_SETTLES)
            display.press("ctrl+1")
            life.live(_SETTLES)
            print(f"after every page was visited: {memory(process.pid):.1f} MiB")
            display.press("alt+F4")
            wait_for(lambda: not display.find("Idlehive"), 10, "no window")
            life.live(_SETTLES)
            print(f"processor, in the tray: {share(process, lambda: life.live(seconds)):.2f} % of a core")
            display.click((18, HEIGHT - 16))
            wait_for(lambda: display.find("Idlehive"), 10, "the window")
            life.live(_SETTLES)
            before = memory(process.pid)
            life.live(snapshots * _TICK / 10, _TICK / 10)
            life.live(_SETTLES)
            print(f"{snapshots} snapshots: {before:.1f} MiB before, {memory(process.pid):.1f} MiB after")


@contextmanager
def window(profile: Profile, display: XDisplay) -> Iterator[psutil.Process]:
    environment = {**os.environ, **display.variables, "IDLEHIVE_HOME": str(profile.path)}
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM], env=environment)
    try:
        wait_for(lambda: display.find("Idlehive"), 30, "a window")
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def share(process: psutil.Process, doing: Callable[[], None]) -> float:
    """Percent of a core that the process takes meanwhile."""
    used, began = sum(process.cpu_times()[:2]), time.monotonic()
    doing()
    return float(100 * (sum(process.cpu_times()[:2]) - used) / (time.monotonic() - began))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of each measurement of processor time")
    parser.add_argument("--snapshots", type=int, default=7200, help="an hour has 7200")
    chosen = parser.parse_args()
    print("load: " + " ".join(f"{value:.1f}" for value in os.getloadavg()))
    measure(chosen.seconds, chosen.snapshots)

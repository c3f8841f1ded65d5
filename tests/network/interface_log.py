"""What an interface carried: its kernel counters twenty times a second, and what follows from them.

Run on a host, `python interface_log.py INTERFACE` writes a line `time received sent` a reading until it is ended.
Standard library only, so that it costs next to nothing.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_PERIOD = 0.05


@dataclass(frozen=True)
class Reading:
    """Bytes since the interface was made, headers and everything; `at` in seconds of the steady clock."""

    at: float
    down: int
    up: int


_LATE = 10.0
"""Seconds for a reading to be written."""

Direction = Literal["down", "up"]


class InterfaceLog:
    def __init__(self, path: Path) -> None:
        self._path = path

    def readings(self, since: float = 0.0, until: float = float("inf")) -> list[Reading]:
        rows = (line.split() for line in self._path.read_text().splitlines(keepends=True) if line.endswith("\n"))
        found = [Reading(float(at), int(down), int(up)) for at, down, up in rows]
        return [reading for reading in found if since <= reading.at <= until]

    def around(self, since: float, until: float) -> list[Reading]:
        """From the last reading before `since` to the first after `until`, which is waited for."""
        deadline = time.monotonic() + _LATE
        while not (after := self.readings(until)):
            assert time.monotonic() < deadline, "the interface is not read any more"
            time.sleep(_PERIOD)
        return [self.readings(until=since)[-1], *self.readings(since, until), after[0]]


def carried(readings: list[Reading], direction: Direction) -> int:
    """Bytes from the first reading to the last."""
    return int(getattr(readings[-1], direction) - getattr(readings[0], direction))


def worst_window(readings: list[Reading], direction: Direction, seconds: float = 10.0) -> float:
    """Bytes per second of the busiest window of that length, or longer by up to a reading."""
    first = 0
    worst = carried(readings, direction) / max(seconds, readings[-1].at - readings[0].at)
    for last, reading in enumerate(readings):
        if reading.at - readings[0].at < seconds:
            continue
        while readings[first + 1].at <= reading.at - seconds:
            first += 1
        worst = max(worst, mean_rate(readings[first : last + 1], direction))
    return worst


def mean_rate(readings: list[Reading], direction: Direction) -> float:
    """Bytes per second from the first reading to the last."""
    return carried(readings, direction) / (readings[-1].at - readings[0].at)


@contextmanager
def interface_log(command: list[str], path: Path) -> Iterator[InterfaceLog]:
    """Log while the block runs. `command` runs this file on the host in question."""
    with path.open("wb") as output:
        process = subprocess.Popen(command, stdout=output)
    try:
        yield InterfaceLog(path)
    finally:
        process.terminate()
        process.wait()


def main(interface: str) -> None:
    folder = Path("/sys/class/net", interface, "statistics")
    while True:
        received, sent = ((folder / f"{way}_bytes").read_text().strip() for way in ("rx", "tx"))
        print(time.monotonic(), received, sent, flush=True)
        time.sleep(_PERIOD)


if __name__ == "__main__":
    main(sys.argv[1])

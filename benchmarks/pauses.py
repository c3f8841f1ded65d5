"""How fast a session yields when the volunteer asks for it.

The practice project (trainer and embedded backbone) is paused and resumed again and again through the engine's socket,
at random moments. Measured are the time until the engine acknowledges the pause, and the time after which all processes
of the session together compute no more; what they spend on after that is told beside it.

Run it with `.venv/bin/python -m benchmarks.pauses [PAUSES]`.
"""

import random
import statistics
import sys
import time
from pathlib import Path
from types import NoneType

from benchmarks.practice import Practice, contributing
from core.api.intent import Pause, Resume

PAUSES = 50
WATCHED = 2.0
"""Seconds after each pause."""
_IDLE, _FOR = 0.1, 0.5
"""Computing has stopped once the session takes less than this share of a core for so many seconds: a holding session's
housekeeping takes one or two percent in bursts of some milliseconds, a training thread takes all of it."""
_WINDOW = 0.05


def main() -> None:
    pauses = int(sys.argv[1]) if len(sys.argv) > 1 else PAUSES
    with contributing() as practice:
        results = [pause(practice) for _ in range(pauses)]
    acknowledged, stopped, idle = zip(*results, strict=True)
    print(f"{pauses} pauses")
    tell("acknowledged after", [1000 * value for value in acknowledged], "ms")
    tell("computing stopped after", [1000 * value for value in stopped], "ms")
    tell("processor while paused", [100 * value for value in idle], "% of a core")


def pause(practice: Practice) -> tuple[float, float, float]:
    """Seconds to the acknowledgement, seconds until computing stops, and the share of a core used after that."""
    practice.until("contributing")
    time.sleep(random.uniform(0.5, 2.0))
    pids = [process.pid for process in practice.session()]
    began = time.perf_counter()
    practice.engine.request(Pause(), NoneType)
    acknowledged = time.perf_counter() - began
    readings = [(time.perf_counter(), spent(pids))]
    while readings[-1][0] < began + WATCHED:
        time.sleep(_WINDOW)
        readings.append((time.perf_counter(), spent(pids)))
    practice.engine.request(Resume(), NoneType)
    stopped = next((reading for reading in readings if idle_from(reading, readings)), readings[-1])
    span = readings[-1][0] - stopped[0]
    return acknowledged, stopped[0] - began, (readings[-1][1] - stopped[1]) / span if span else 1.0


def idle_from(reading: tuple[float, float], readings: list[tuple[float, float]]) -> bool:
    """Whether the session computes no more from this reading on."""
    later = next((one for one in readings if one[0] >= reading[0] + _FOR), None)
    return later is not None and later[1] - reading[1] < _IDLE * (later[0] - reading[0])


def spent(pids: list[int]) -> float:
    """Processor seconds of these processes, to the nanosecond (proc(5): schedstat counts on each thread's own)."""
    return sum(_of_process(pid) for pid in pids) / 1e9


def _of_process(pid: int) -> int:
    total = 0
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        try:
            total += int((thread / "schedstat").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            continue
    return total


def tell(what: str, values: list[float], unit: str) -> None:
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    print(f"{what:25} p50 {cuts[49]:7.1f}  p99 {cuts[98]:7.1f}  worst {max(values):7.1f} {unit}")


if __name__ == "__main__":
    main()

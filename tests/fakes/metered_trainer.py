"""A trainer that computes nothing, with the real throttle and counters: what they read of the counters is recorded.

The driver is whichever libnvidia-ml.so.1 is found first; `POWERCAP` names the tree of the processor's counters.
"""

import os
import queue
import sys
import threading
import time
from pathlib import Path

from core.api.session import Leave, Report, command_decoder
from core.api.session_settings import Limits
from core.conditions.energy import Rapl
from core.conditions.nvml import Gpu, Nvml
from core.trainer.counters import SessionCounters
from core.trainer.machine.throttle import LONGEST_REST, Throttle
from tests.fakes.scripted_trainer import ON_THE_WAY, say

POWERCAP = "POWERCAP"


def listen(left: "queue.Queue[None]") -> None:
    for text in sys.stdin.buffer:
        if isinstance(command_decoder.decode(text), Leave):
            break
    left.put(None)


def main() -> None:
    left: queue.Queue[None] = queue.Queue()
    threading.Thread(target=listen, args=(left,), daemon=True).start()
    nvml, session_counters = Nvml(), SessionCounters()

    def read() -> Gpu | None:
        return next(iter(nvml.read().present), None)

    throttle = Throttle(read, rapl=Rapl(Path(os.environ[POWERCAP])))
    for stage in ON_THE_WAY:
        say(Report(stage))
    session_counters.begin(time.monotonic())
    throttle.begin()
    while True:
        throttle.rest(Limits(), 1, 0.001)
        session_counters.add_microbatch(1, 4.0, gpu_seconds=0.001, flops_per_sample=1e6)
        session_counters.joules = throttle.joules
        say(Report("contributing", counters=session_counters.counters(time.monotonic())))
        try:
            left.get(timeout=LONGEST_REST)
        except queue.Empty:
            continue
        say(Report("leaving", counters=session_counters.counters(time.monotonic())))
        return


if __name__ == "__main__":
    main()
    # Not by falling off the end: the listening thread would be waited for.
    sys.stdout.flush()
    os._exit(0)

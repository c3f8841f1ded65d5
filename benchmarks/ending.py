"""How long a killed process at idle priority lives on beside busy ones: `python -m benchmarks.ending [--busy 4]`.

It stands for a trainer: 400 MiB of memory and twenty threads, in a group of its own (autogroup) with nice 19.
"""

import argparse
import os
import subprocess
import sys
import time

from core.client.installation import core_environment
from core.system.priority import raise_all

_TRAINER = """
import mmap, os, threading, time
from core.system.priority import lower_priority
memory = mmap.mmap(-1, 400 << 20)
for page in range(0, len(memory), mmap.PAGESIZE):
    memory[page] = 1
for _ in range(20):
    threading.Thread(target=lambda: [time.sleep(0.05) for _ in iter(int, 1)], daemon=True).start()
open("/proc/self/autogroup", "w").write("19")
lower_priority()
print(flush=True)
time.sleep(600)
"""
_LOAD = "import time\nend = time.monotonic() + 120\nwhile time.monotonic() < end: pass"
_UNTIL_BUSY = 1.5


def measure(*, busy: int, raised: bool) -> float:
    """Seconds from SIGKILL to the end."""
    command = [sys.executable, "-c", _TRAINER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=core_environment()) as trainer:
        if trainer.stdout is not None:
            trainer.stdout.readline()
        loads = [subprocess.Popen([sys.executable, "-c", _LOAD], start_new_session=True) for _ in range(busy)]
        time.sleep(_UNTIL_BUSY)
        began = time.monotonic()
        if raised:
            raise_all([trainer.pid])
        trainer.kill()
        trainer.wait()
        seconds = time.monotonic() - began
        for load in loads:
            load.kill()
            load.wait()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--busy", type=int, default=4, help="busy processes beside it")
    chosen = parser.parse_args()
    for raised in (False, True):
        seconds = measure(busy=chosen.busy, raised=raised)
        print(
            f"{'with nice 0 again' if raised else 'at idle priority'}: {seconds:.2f} s at load {os.getloadavg()[0]:.0f}"
        )


if __name__ == "__main__":
    main()

"""Whether everything that runs for contributing keeps to the share of the processor that the volunteer allows.

The practice project contributes. After each change of `processor_share`, all processes of the profile (engine,
backbone, both trainers with their averagers and daemons) are watched for a minute.

Run it with `.venv/bin/python -m benchmarks.share [--threads N] [SHARE ...]`; 10, 50 and 90 per cent if none is given.
"""

import argparse
import time
from collections import Counter

import psutil

from benchmarks.practice import contributing
from benchmarks.start import name_of
from core.api.preferences.commands import PreferenceInfo, SetPreference

SHARES = (10, 50, 90)
_SETTLES, _WATCHED = 15.0, 60.0
"""Seconds."""
_SHOWN = 0.002
"""Cores."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shares", type=int, nargs="*", default=SHARES)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    with contributing() as practice:
        practice.engine.request(SetPreference("threads", chosen.threads), PreferenceInfo)
        engine = psutil.Process(practice.snapshot().engine_pid)
        for share in chosen.shares:
            practice.engine.request(SetPreference("processor_share", share), PreferenceInfo)
            time.sleep(_SETTLES)
            used = watch(engine)
            allowed = share / 100 * chosen.threads
            print(
                f"{share:3} % of {chosen.threads}: {used.total():.3f} of a core, "
                f"{used.total() / allowed:.3f} of what is allowed; "
                + ", ".join(f"{name} {cores:.3f}" for name, cores in used.most_common() if cores >= _SHOWN),
                flush=True,
            )


def watch(engine: psutil.Process) -> Counter[str]:
    """Cores in use, by part of the program."""
    everybody = [engine, *engine.children(recursive=True)]
    before, began = [spent(process) for process in everybody], time.monotonic()
    time.sleep(_WATCHED)
    passed = time.monotonic() - began
    used: Counter[str] = Counter()
    for process, seconds in zip(everybody, before, strict=True):
        used[name_of(process)] += (spent(process) - seconds) / passed  # type: ignore[assignment]  # typeshed: int
    return used


def spent(process: psutil.Process) -> float:
    return float(sum(process.cpu_times()[:2]))


if __name__ == "__main__":
    main()

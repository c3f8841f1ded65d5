"""What `kill -9` costs.

Engine, trainer or both are killed at random moments (fixed seed) while a volunteer changes limits and memberships; the
trainer is the tests' own, so that a hundred kills take minutes. After each the database is checked, the record compared
with what was seen of it, and the next start has to go on by itself.

Run it with `.venv/bin/python -m benchmarks.kills [KILLS] [SEED]`.
"""

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from core.client.profile import Profile
from tests.fakes.kills import Kills
from tests.fakes.running_engine import RunningEngine

KILLS = 100
SEED = 1
_LATE = 12
"""Every twelfth kill comes after more than ten seconds, so that something has been written and something has not."""


def main() -> None:
    given = [int(value) for value in sys.argv[1:]]
    count, seed = given + [KILLS, SEED][len(given) :]
    moments, victims, began = random.Random(seed), Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hive") as name:
        folder = Path(name)
        engine = RunningEngine(Profile(folder / "home"), folder)
        try:
            kills = Kills(engine, folder, seed)
            kills.begin()
            for number in range(1, count + 1):
                victims[kills.kill(moments.uniform(11, 16) if number % _LATE == 0 else moments.uniform(0.05, 1.5))] += 1
                print(f"\r{number} kills", end="", flush=True)
        finally:
            engine.clean_up()
    told = ", ".join(f"{name} {times}" for name, times in sorted(victims.items()))
    print(f"\r{count} kills in {time.monotonic() - began:.0f} s ({told}), seed {seed}")
    print("database whole, limits and memberships as acknowledged, the next start by itself: every time")
    print(f"oldest sample that was lost: {kills.lost:.1f} s before the kill")


if __name__ == "__main__":
    main()

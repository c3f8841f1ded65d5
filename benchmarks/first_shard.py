"""What two volunteers fetch before they contribute, where the data have several large shards, and later.

    .venv/bin/python -m benchmarks.first_shard 200

A backbone serves three shards of 49 MB (24 MB compressed by zstd) and validates. After so many seconds: each
volunteer's epoch, what its cache has, changes of the portion, and how far what was brought is from what samples give.
"""

import random
import re
import sys
import time
from pathlib import Path

import pyarrow as pa

from tests.end_to_end.machine import PRACTICE, Machine, Participant, wait_for
from tests.end_to_end.organiser import Organiser

_SHARDS, _LINES, _WORDS = 3, 150_000, 60


def main() -> None:
    machine = Machine()
    try:
        run(machine, float(sys.argv[1]))
    finally:
        machine.clean_up()


def run(machine: Machine, seconds: float) -> None:
    organiser = Organiser(machine, "organiser", target_batch_size=32, evaluate_every=8)
    write_shards(organiser.description.parent)
    description = organiser.description.read_text()
    description = re.sub(r"shards = .*", 'shards = ["large-*.zst"]\ncompression = "zstd"', description)
    organiser.description.write_text(re.sub(r"held_out = .*\n", "", description))
    host = organiser.start()
    volunteers = [machine.profile(name) for name in ("a", "b")]
    begun = time.monotonic()
    for volunteer in volunteers:
        volunteer.start("contribute", organiser.url)
    for volunteer in volunteers:
        wait_for(lambda volunteer=volunteer: is_contributing(volunteer), 120.0, "it contributes")  # type: ignore[misc]
        print(f"after {time.monotonic() - begun:.0f} s: contributes with {cached(volunteer)}")
    time.sleep(seconds)
    for volunteer in volunteers:
        print(f"epoch {volunteer.progress()['epoch']}: {cached(volunteer)}")
    for log in [host.complained(), *(path.read_text(errors="replace") for path in machine.folder.rglob("*.log"))]:
        print(*(line for line in log.splitlines() if "portion" in line or "of their norm" in line), sep="\n")


def write_shards(folder: Path) -> None:
    """Random words of the practice project's texts."""
    words = " ".join(path.read_text() for path in sorted(PRACTICE.glob("train-*.txt"))).split()
    chance = random.Random(1)
    for number in range(_SHARDS):
        lines = (" ".join(chance.choices(words, k=_WORDS)) for _ in range(_LINES))
        with pa.output_stream(folder / f"large-{number}.zst", compression="zstd") as file:
            file.write("\n".join(lines).encode())


def is_contributing(volunteer: Participant) -> bool:
    return bool(volunteer.status()["state"] == "contributing")


def cached(volunteer: Participant) -> str:
    files = [path for path in (volunteer.home.path / "cache").iterdir() if path.stat().st_size > 1 << 20]
    return ", ".join(f"{path.name[:8]}{path.suffix} {path.stat().st_size / 1e6:.1f} MB" for path in sorted(files))


if __name__ == "__main__":
    main()

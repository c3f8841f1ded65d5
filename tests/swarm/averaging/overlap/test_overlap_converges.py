"""Computing on during the rounds costs no progress: two peers learn the practice project as fast with it as without."""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SEEDS, EPOCHS = 2, 30
RATE = 1_000_000
"""Bytes per second, at which a round takes longer than to compute a batch."""
TOLERANCE = 0.05
"""Of the loss, in the mean of the seeds; of what training takes off it, which is about 1.6; seen: 0.02 and 0.00."""


def learned(folder: Path, overlap: str, seed: int) -> dict[str, float]:
    folder.mkdir()
    peers = []
    try:
        for number in range(2):
            subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / f"subreaper-{number}"), "--"]
            peer = [sys.executable, "-m", "tests.swarm.averaging.peers.practice_peer"]
            arguments = map(str, (folder, number, overlap, seed, EPOCHS, RATE))
            with (folder / f"{number}.log").open("wb") as log:
                peers.append(subprocess.Popen([*subreaper, *peer, *arguments], stderr=log))
            wait_for((folder / "address").exists, 120.0)
        for number, process in enumerate(peers):
            assert process.wait(300) == 0, (folder / f"{number}.log").read_text()
    finally:
        for process in peers:
            process.terminate()
            process.wait(30)
    found: dict[str, Any] = json.loads((folder / "0.json").read_text())
    return found


def test_two_peers_learn_as_fast_if_they_compute_on_during_their_rounds(
    short_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {
        overlap: [learned(short_folder / f"{overlap}-{seed}", overlap, seed) for seed in range(SEEDS)]
        for overlap in ("never", "always")
    }
    with capsys.disabled():
        print("".join(f"\n{overlap}: {found}" for overlap, every in runs.items() for found in every))
    losses = {overlap: statistics.fmean(found["after"] for found in every) for overlap, every in runs.items()}
    gained = statistics.fmean(found["before"] for found in runs["never"]) - losses["never"]
    assert min(found["in rounds"] for found in runs["always"]) > 0.5
    assert max(found["in rounds"] for found in runs["never"]) == 0.0
    assert gained > 10 * TOLERANCE
    assert losses["always"] - losses["never"] < TOLERANCE

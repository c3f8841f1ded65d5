"""DeDLOC's promise: many peers with small batches make the same steps as one process with the large batch."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.swarm.fixed_data import make_model, train_alone

EPOCHS = 5
TOLERANCE = 2e-6
"""Largest difference of any parameter, between two peers and to one process. The sums are the same but for the order of
additions in float32, and a peer gets the average as a difference to add to its own: one rounding is 6e-8 of a value
up to about 1, and five LAMB steps (each scaled by norms over the whole tensor) add up some dozens of them. Seen: 1.5e-8
between peers, 6e-7 to one process. What training changes is 10^5 times as much."""


def start_peer(folder: Path, index: int, peers: int, task: str) -> subprocess.Popen[bytes]:
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / f"subreaper-{index}"), "--"]
    peer = [sys.executable, "-m", "tests.swarm.equivalence_peer", *map(str, (folder, index, peers, EPOCHS, task))]
    with (folder / f"{index}.log").open("wb") as log:
        return subprocess.Popen(subreaper + peer, stderr=log)


def wait_for(path: Path, process: subprocess.Popen[bytes], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, (path.parent / "0.log").read_text()
        assert time.monotonic() < deadline, f"{path.name} did not appear"
        time.sleep(0.05)


def largest_difference(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> float:
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


@pytest.mark.slow
@pytest.mark.parametrize("task", ["masked", "sentence_order", "causal", "documents", "text_to_image", "swav"])
@pytest.mark.timeout(240)
def test_two_peers_make_the_same_steps_as_one_process_with_the_large_batch(
    short_folder: Path, task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    peers = [start_peer(short_folder, 0, 2, task)]
    try:
        wait_for(short_folder / "address", peers[0], 90)
        peers.append(start_peer(short_folder, 1, 2, task))
        for index, peer in enumerate(peers):
            assert peer.wait(150) == 0, (short_folder / f"{index}.log").read_text()
    finally:
        for peer in peers:
            peer.terminate()
            peer.wait(30)
    swarm = [load_file(short_folder / f"{index}.safetensors") for index in range(2)]
    alone = {name: value.detach() for name, value in train_alone(EPOCHS, task).named_parameters()}
    before = {name: value.detach() for name, value in make_model(task).named_parameters()}

    between = largest_difference(swarm[0], swarm[1])
    to_alone = largest_difference(swarm[0], alone)
    made = largest_difference(before, alone)
    with capsys.disabled():
        print(f"\n{task}: {between:.1e} between peers, {to_alone:.1e} to one process, {made:.2f} by training", end=" ")
    assert between < TOLERANCE
    assert to_alone < TOLERANCE
    assert made > 1e5 * TOLERANCE

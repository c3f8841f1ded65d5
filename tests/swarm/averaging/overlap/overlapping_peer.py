"""A peer that goes on computing during its rounds, in a process of its own, as every peer is.

Usage: overlapping_peer.py FOLDER NUMBER OVERLAP RATE [INITIAL_PEER]. It sends at most RATE bytes per second. The
gradient of each sample is 1 at a place of its own, so that an average tells which samples are in it, and how often.

It reads one command a line from stdin, "train", "look" or the name of a method of its optimizer, and answers each with
a line of JSON. With the end of stdin it leaves.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from core.api.project.manifest import Averaging, Optimizer, Training
from core.api.session_settings import Limits
from core.swarm.averaging.group import Update
from core.swarm.averaging.overlap.overlapping import OverlappingOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import RoundFailed
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.state_swarm import digest

SAMPLES = 1000
"""That one peer may compute."""
PEERS = 3
PADDING = 40_000
"""Values that only take time to send."""
BATCH = 6
TRAINING = Training(BATCH, 1, Optimizer("adamw", 0.01))
AVERAGING = Averaging("none", matchmaking_time=3.0, averaging_timeout=20.0)


class Peer:
    def __init__(self, folder: Path, number: int, overlap: str, rate: int, initial_peers: list[str]) -> None:
        torch.set_num_threads(1)
        sockets = folder / f"s{number}"
        sockets.mkdir()
        link = Link()
        install(sockets, link)
        link.apply(Limits(upload_limit=rate))
        self._dht = join_swarm(initial_peers, folder / f"identity-{number}")
        self._number, self._computed = number, 0
        self._parameter = torch.nn.Parameter(torch.zeros(PEERS * SAMPLES + PADDING))
        self._updates: list[dict[str, Any]] = []
        made = make_optimizer(
            dht=self._dht,
            run_id="run",
            parameters=[self._parameter],
            training=TRAINING,
            averaging=AVERAGING,
            backbone=ScriptedBackbone(),
            on_update=self._add_update,
            extrapolate=False,
            kind=OverlappingOptimizer,
            overlap=overlap,
        )
        assert isinstance(made, OverlappingOptimizer)
        self._optimizer = made

    def train(self) -> None:
        self._parameter.grad = torch.zeros_like(self._parameter)
        self._parameter.grad[self._number * SAMPLES + self._computed] = 1.0
        self._computed += 1
        try:
            self._optimizer.step(batch_size=1)
        finally:
            self._optimizer.zero_grad()

    def answer(self, command: str) -> dict[str, Any]:
        failure = None
        try:
            if command == "train":
                self.train()
            elif command != "look":
                getattr(self._optimizer, command)()
        except RoundFailed as error:
            failure = str(error)
        optimizer = self._optimizer
        control, progress = optimizer.scheduled_grads, optimizer.tracker.global_progress
        return {
            "address": own_addresses(self._dht)[0],
            "failure": failure,
            "computed": self._computed,
            "epoch": optimizer.local_epoch,
            "overlapping": optimizer.is_overlapping,
            "running": control is not None and not control.done() and control.stage.name == "RUNNING_ALLREDUCE",
            "own": optimizer.own_samples,
            "peers": progress.num_peers,
            "updates": self._updates,
            "digest": digest(optimizer.state_averager),
        }

    def _add_update(self, update: Update) -> None:
        with self._optimizer.grad_averager.get_tensors() as tensors:
            marked = tensors[0][: PEERS * SAMPLES].clone()
        samples = {int(place): float(marked[place]) for place in marked.nonzero().flatten()}
        self._updates.append(
            {"epoch": update.epoch, "own": update.own_samples, "group": update.group_size, "samples": samples}
        )

    def leave(self) -> None:
        self._optimizer.end_round()
        self._optimizer.shutdown()
        self._dht.shutdown()


def main() -> None:
    folder, number, overlap, rate, *initial_peers = sys.argv[1:]
    peer = Peer(Path(folder), int(number), overlap, int(rate), initial_peers)
    for line in sys.stdin:
        print(json.dumps(peer.answer(line.strip())), flush=True)
    peer.leave()
    os._exit(0)


if __name__ == "__main__":
    main()

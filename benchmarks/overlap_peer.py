"""A peer of `benchmarks.overlap`, whose microbatches take time and nothing else, or so much of a processor.

Usage: overlap_peer.py FOLDER LISTEN TASK, the last a JSON object. It prints its address, and at the end how long the
epochs took that it was asked for and in how much of that it computed.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch
from hivemind import DHT

from core.api.project.manifest import Averaging, Optimizer, Training
from core.swarm.averaging.group import Update
from core.swarm.averaging.overlap.overlapping import OverlappingOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import RoundFailed
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.wire_monitor import WireMonitor
from tests.fakes.backbone import ScriptedBackbone

MICROBATCH = 8
_SECONDS = 0.1
"""That a microbatch takes."""
_WORK, _SIZE = 12, 512
"""Products of matrices, and their size, that take about as long on one core."""
_AVERAGING = Averaging("float16", matchmaking_time=10.0, averaging_timeout=120.0, average_state_every=5)
_FIRST = 3
"""Updates before those that are measured: peers meet, and learn what their lines carry."""


class Trainer:
    def __init__(self, dht: DHT, link: Link, task: dict[str, Any]) -> None:
        self._epochs, self._peers = task["epochs"], task["peers"]
        self._parameter = torch.nn.Parameter(torch.zeros(task["parameters"]))
        self._parameter.grad = torch.randn(task["parameters"])
        self._matrix = torch.randn(_SIZE, _SIZE) if task["on_processor"] else None
        self._computed, self._failed, self._samples = 0.0, 0, 0
        self._marks = dict[int, tuple[float, float, int]]()
        self._batch = batch = round(task["batch_seconds"] / _SECONDS) * MICROBATCH * self._peers
        self.optimizer = make_optimizer(
            dht=dht,
            run_id="run",
            parameters=[self._parameter],
            training=Training(batch, MICROBATCH, Optimizer("adamw", 1e-4)),
            averaging=_AVERAGING,
            backbone=ScriptedBackbone(),
            on_update=self._mark,
            line_bandwidth=link.bandwidth,
            kind=OverlappingOptimizer,
            overlap=task["overlap"],
        )

    def run(self) -> dict[str, float]:
        """What was measured. All begin at the same time, when they see each other."""
        self._microbatch()
        while self.optimizer.tracker.global_progress.num_peers < self._peers:
            time.sleep(0.1)
        while _FIRST + self._epochs not in self._marks:
            self._microbatch()
        (began, before, had), (ended, after, has) = self._marks[_FIRST], self._marks[_FIRST + self._epochs]
        batches = (has - had) / self._batch
        return {"wall": ended - began, "computed": after - before, "failed": self._failed, "batches": batches}

    def _microbatch(self) -> None:
        began = time.monotonic()
        if self._matrix is None:
            time.sleep(_SECONDS)
        else:
            for _product in range(_WORK):
                self._matrix @ self._matrix
        self._computed += time.monotonic() - began
        try:
            self.optimizer.step(batch_size=MICROBATCH)
        except RoundFailed:
            self._failed += 1

    def _mark(self, update: Update) -> None:
        self._samples += update.own_samples
        self._marks[update.epoch] = time.monotonic(), self._computed, self._samples


def main(folder: str, listen: str, described: str) -> None:
    torch.set_num_threads(1)
    place, task, link = Path(folder), json.loads(described), Link()
    place.mkdir()
    install(place, link)
    dht = join_swarm(task["contacts"], place / "key", listen)
    WireMonitor(link, dht).start()
    print(json.dumps({"address": own_addresses(dht)[:1]}), flush=True)
    if task["peers"]:
        trainer = Trainer(dht, link, task)
        print(json.dumps(trainer.run()), flush=True)
        # The others may be in a round that began later.
        sys.stdin.read()
        trainer.optimizer.shutdown()
    sys.stdin.read()
    dht.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])

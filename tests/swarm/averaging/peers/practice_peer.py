"""A peer of the practice project with small batches, in a process of its own, that evaluates where it has got.

Usage: practice_peer.py FOLDER NUMBER OVERLAP SEED EPOCHS RATE. Number 0 writes its address to FOLDER/address, the other
reads it. Each sends at most RATE bytes per second. After EPOCHS updates it writes to FOLDER/NUMBER.json its loss on the
held-out data, before and after, and the share of its microbatches that were computed during a round.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
import torch
from hivemind import DHT

from core.api.session_settings import Limits
from core.host.project import load
from core.learning.data import held_out_samples, training_samples
from core.learning.model import build_model
from core.learning.tasks import task_for
from core.learning.tasks.task import Batch
from core.swarm.averaging.group import Update
from core.swarm.averaging.overlap.overlapping import OverlappingOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import RoundFailed
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.end_to_end.machine import PRACTICE
from tests.fakes.backbone import ScriptedBackbone
from tests.waiting import wait_for

BATCH = 96


class Practice:
    """The project's model, and batches in an order that the seed decides."""

    def __init__(self, folder: Path, seed: int) -> None:
        project = load(PRACTICE / "project.toml")
        manifest = project.manifest(folder, ())
        self.averaging = manifest.averaging
        self.training = msgspec.structs.replace(manifest.training, seed=seed, target_batch_size=BATCH)
        self.model = build_model(msgspec.structs.replace(manifest, training=self.training))
        self.model.train()
        self._data, self._path_of = manifest.data, project.path_of
        assert manifest.tokenizer is not None
        self.task = task_for(manifest, self.model.config, project.path_of(manifest.tokenizer))

    def batches(self, seed: int) -> Iterator[Batch]:
        samples = training_samples(self._data, [self._path_of(shard) for shard in self._data.shards], seed)
        return self.task.batches(samples, self.training.microbatch_size, seed)

    def loss(self) -> float:
        """On the held-out data."""
        held_out = held_out_samples(self._data, self._path_of)
        assert held_out is not None
        return self.task.evaluate(self.model, held_out()).loss


def join(folder: Path, number: int, rate: int) -> DHT:
    sockets = folder / f"s{number}"
    sockets.mkdir()
    link = Link()
    install(sockets, link)
    link.apply(Limits(upload_limit=rate))
    address = folder / "address"
    dht = join_swarm([address.read_text()] if number else [], folder / f"identity-{number}")
    if not number:
        write(address, own_addresses(dht)[0])
    return dht


def write(path: Path, text: str) -> None:
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").rename(path)


def together(folder: Path, what: str) -> None:
    """Wait for the other peer."""
    wait_for(lambda: len(list(folder.glob(what))) == 2, 120.0, what)


def main() -> None:
    folder, number, overlap, seed, epochs, rate = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], *sys.argv[4:]
    torch.set_num_threads(1)
    dht = join(folder, number, int(rate))
    practice = Practice(folder / f"state-{number}", int(seed))
    found = {"before": practice.loss()}

    def on_update(update: Update) -> None:
        if update.epoch == int(epochs):
            found["after"] = practice.loss()

    optimizer = make_optimizer(
        dht=dht,
        run_id="run",
        parameters=practice.model.parameters(),
        training=practice.training,
        averaging=practice.averaging,
        backbone=ScriptedBackbone(),
        on_update=on_update,
        kind=OverlappingOptimizer,
        overlap=overlap,
    )
    assert isinstance(optimizer, OverlappingOptimizer)
    write(folder / f"{number}.ready", "")
    together(folder, "*.ready")
    batches, computed = practice.batches(2 * int(seed) + number), {False: 0, True: 0}
    while "after" not in found:
        practice.task.loss(practice.model, next(batches)).backward()
        computed[optimizer.is_overlapping] += 1
        try:
            optimizer.step(batch_size=practice.training.microbatch_size)
        except RoundFailed:
            with suppress(RoundFailed):
                optimizer.follow()
        optimizer.zero_grad()
    write(folder / f"{number}.json", json.dumps({**found, "in rounds": computed[True] / sum(computed.values())}))
    together(folder, "*.json")
    optimizer.shutdown()
    dht.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main()

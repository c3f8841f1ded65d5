"""A backbone whose run gets worse at once, and a peer that has the spoilt state. One process of its own.

Usage: spoilt_run.py FOLDER. Prints as JSON what became of both.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.backbone import Backbone
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.host.project import Host
from core.host.web.published import PublishedRun
from core.learning import checkpoints
from core.learning.model import build_model
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import StateUnavailable
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.host.peers.restarted_backbone import EPOCH, LATER, chained, evaluation, parameters_of, place, train
from tests.learning.small_project import small_manifest
from tests.waiting import wait_for


class Run:
    """The backbone and one more peer, both at one epoch."""

    def __init__(self, folder: Path) -> None:
        manifest, settings = small_manifest(), Host(checkpoint_every=1)
        self._checkpoints = folder / "checkpoints"
        evaluated = build_model(manifest)
        dht = join_swarm([], folder / "first.key")
        self.peer = AuxiliaryPeer(dht, manifest, evaluated, settings, evaluate=lambda: evaluation(evaluated))
        curve, store = Curve(folder, "small", 1000), ContributionStore(folder, "small")
        self.backbone = Backbone(
            dht=dht,
            manifest=manifest,
            settings=settings,
            checkpoint_folder=self._checkpoints,
            curve=curve,
            published=PublishedRun({}, curve, store, self._checkpoints),
            store=store,
            auxiliary=self.peer,
            record=RunRecordPublisher(dht, "small", folder / "first.key"),
        )
        self.other = make_optimizer(
            dht=join_swarm(own_addresses(dht), folder / "second.key"),
            run_id=manifest.run_id,
            parameters=build_model(manifest).parameters(),
            training=manifest.training,
            averaging=manifest.averaging,
            backbone=ScriptedBackbone(),
        )
        self.optimizers = [self.peer._optimizer, self.other]

    def poll(self) -> list[int]:
        """The epochs of the checkpoints after the backbone has looked at its state."""
        self.backbone.poll(time.time())
        return [checkpoints.epoch_of(path) for path in checkpoints.saved(self._checkpoints)]


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    install(folder, Link())
    model = build_model(small_manifest())
    fresh = parameters_of(model)
    train(model)
    print(json.dumps(spoil(Run(folder), fresh, parameters_of(model))), flush=True)
    # hivemind's threads would be waited for.
    os._exit(0)


def spoil(run: Run, fresh: list[torch.Tensor], learned: list[torch.Tensor]) -> dict[str, Any]:
    """The run has learned, then all of it has fresh weights: what it has in the end."""
    chain = chained((), EPOCH)
    place(run.peer._optimizer, learned, EPOCH, chain)
    kept = run.poll()
    later = chained(chain, LATER)
    for optimizer in run.optimizers:
        place(optimizer, fresh, LATER, later)
    run.peer.start()
    spoilt = run.poll()
    wait_for(lambda: run.peer.epoch > LATER, 30.0, "the backbone went back")
    run.poll()
    wait_for(lambda: follows(run.other, run.peer.epoch), 60.0, "the other has followed")
    kept_again = run.poll()
    jump = run.backbone.published.status.jump
    return {
        "kept": [kept, spoilt],
        "jump": [jump.epoch, jump.to_epoch] if jump is not None else None,
        "epochs": [run.peer.epoch, run.other.local_epoch],
        "good again": [same(optimizer, learned) for optimizer in run.optimizers],
        "kept again": kept_again[-1],
    }


def follows(optimizer: CollaborativeOptimizer, epoch: int) -> bool:
    with contextlib.suppress(StateUnavailable):
        optimizer.load_state_from_peers()
    return bool(optimizer.local_epoch == epoch)


def same(optimizer: CollaborativeOptimizer, parameters: list[torch.Tensor]) -> bool:
    present = optimizer.state_averager.snapshot()[1]
    return all(torch.equal(one, other) for one, other in zip(present, parameters, strict=False))


if __name__ == "__main__":
    main()

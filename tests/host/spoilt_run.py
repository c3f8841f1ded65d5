"""A backbone whose run gets worse at once, and a peer that has the spoilt state. One process of its own.

Usage: spoilt_run.py FOLDER. Prints as JSON what became of both.
"""

import contextlib
import json
import os
import sys
import time
from pathlib import Path

import torch

from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.backbone import Backbone
from core.host.contribution_store import ContributionStore
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
from tests.host.restarted_backbone import EPOCH, LATER, chained, evaluation, parameters_of, place, train
from tests.learning.small_project import small_manifest
from tests.waiting import wait_for


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    install(folder, Link())
    manifest, settings = small_manifest(), Host(checkpoint_every=1)
    model, evaluated = build_model(manifest), build_model(manifest)
    fresh = parameters_of(model)
    train(model)
    learned = parameters_of(model)
    dht = join_swarm([], folder / "first.key")
    peer = AuxiliaryPeer(dht, manifest, evaluated, settings, evaluate=lambda: evaluation(evaluated))
    curve, store = Curve(folder, "small", 1000), ContributionStore(folder, "small")
    backbone = Backbone(
        dht=dht,
        manifest=manifest,
        settings=settings,
        checkpoint_folder=folder / "checkpoints",
        curve=curve,
        published=PublishedRun({}, curve, store, folder / "checkpoints"),
        store=store,
        auxiliary=peer,
        record=RunRecordPublisher(dht, "small", folder / "first.key"),
    )
    chain = chained((), EPOCH)
    place(peer._optimizer, learned, EPOCH, chain)
    backbone.poll(time.time())
    kept = [checkpoints.epoch_of(path) for path in checkpoints.saved(folder / "checkpoints")]

    later = chained(chain, LATER)
    place(peer._optimizer, fresh, LATER, later)
    other_dht = join_swarm(own_addresses(dht), folder / "second.key")
    other = make_optimizer(
        dht=other_dht,
        run_id=manifest.run_id,
        parameters=build_model(manifest).parameters(),
        training=manifest.training,
        averaging=manifest.averaging,
        backbone=ScriptedBackbone(),
    )
    place(other, fresh, LATER, later)
    peer.start()
    backbone.poll(time.time())
    spoilt = [checkpoints.epoch_of(path) for path in checkpoints.saved(folder / "checkpoints")]
    wait_for(lambda: peer.epoch > LATER, 30.0, "the backbone went back")
    backbone.poll(time.time())
    wait_for(lambda: follows(other, peer.epoch), 60.0, "the other has followed")
    backbone.poll(time.time())
    jump = backbone.published.status.jump
    print(
        json.dumps(
            {
                "kept": [kept, spoilt],
                "jump": [jump.epoch, jump.to_epoch] if jump is not None else None,
                "epochs": [peer.epoch, other.local_epoch],
                "good again": [same(each, learned) for each in (peer._optimizer, other)],
                "kept again": checkpoints.epoch_of(checkpoints.saved(folder / "checkpoints")[-1]),
            }
        ),
        flush=True,
    )
    # hivemind's threads would be waited for.
    os._exit(0)


def follows(optimizer: CollaborativeOptimizer, epoch: int) -> bool:
    with contextlib.suppress(StateUnavailable):
        optimizer.load_state_from_peers()
    return bool(optimizer.local_epoch == epoch)


def same(optimizer: CollaborativeOptimizer, parameters: list[torch.Tensor]) -> bool:
    present = optimizer.state_averager.snapshot()[1]
    return all(torch.equal(one, other) for one, other in zip(present, parameters, strict=False))


if __name__ == "__main__":
    main()

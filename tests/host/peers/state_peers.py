"""Two backbones of one run in one process of its own: the first has a checkpoint, the second takes the state over.

Usage: state_peers.py FOLDER. Prints what came of it as JSON.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch

from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.project import Host
from core.learning import checkpoints
from core.learning.model import build_model
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import BadState
from core.swarm.patches import install
from core.swarm.state.metadata_text import from_text, to_text
from core.swarm.traffic.link import Link
from tests.learning.small_project import small_manifest
from tests.waiting import wait_for

EPOCH = 7


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    install(folder, Link())
    manifest = small_manifest()
    dht = join_swarm([], folder / "first.key")
    first = AuxiliaryPeer(dht, manifest, build_model(manifest), Host())
    metadata, tensors = first.snapshot()
    trained = {name: tensor + 0.5 for name, tensor in first.named(tensors).items()}
    checkpoints.save(folder, trained, epoch=EPOCH, run_id="small", metadata=to_text(metadata))
    kept = checkpoints.latest(folder, "small")
    assert kept is not None
    first.restore(from_text(kept.epoch, kept.metadata), kept.tensors)
    first.start()

    other_dht = join_swarm(own_addresses(dht), folder / "second.key")
    # Both are one process, which has one slot in the DHT: only one of them can announce itself.
    second = AuxiliaryPeer(other_dht, manifest, build_model(manifest), Host(), averages=False)
    before = epoch_of(second)
    second.start()
    wait_for(lambda: second.epoch == EPOCH, 60.0, "the second backbone has the state")
    poisoned = {name: tensor * float("nan") for name, tensor in trained.items()}
    print(
        json.dumps(
            {
                "epochs": [before, epoch_of(second)],
                "same": digest(second) == checkpoints.digest(trained),
                "evaluated": all(
                    bool(torch.equal(parameter, trained[f"parameter.{name}"]))
                    for name, parameter in second.model.named_parameters()
                ),
                "poisoned": refused(second, poisoned, metadata),
                "other model": refused(second, {name: tensor[:1] for name, tensor in trained.items()}, metadata),
                "unharmed": digest(second) == checkpoints.digest(trained),
            }
        ),
        flush=True,
    )
    # hivemind's threads would be waited for.
    os._exit(0)


def epoch_of(peer: AuxiliaryPeer) -> int:
    """Of the state whose parameters the model has then."""
    (metadata, _), _ = peer.evaluated()
    return int(metadata["epoch"])


def digest(peer: AuxiliaryPeer) -> str:
    return checkpoints.digest(peer.named(peer.snapshot()[1]))


def refused(peer: AuxiliaryPeer, tensors: dict[str, torch.Tensor], metadata: dict[str, Any]) -> str | None:
    try:
        peer.restore({**metadata, "epoch": EPOCH + 1}, tensors)
    except BadState as error:
        return str(error)
    return None


if __name__ == "__main__":
    main()

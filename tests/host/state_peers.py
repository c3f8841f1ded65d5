"""Two backbones of one run in one process of its own: the first has a checkpoint, the second takes its state over.

Usage: state_peers.py FOLDER. Prints what came of it as JSON.
"""

import json
import sys
import time
from pathlib import Path

import torch
from hivemind import DHT

from core.host.follower import Follower
from core.learning import checkpoints
from core.learning.model import build_model
from core.swarm.averaging.averagers import state_prefix
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.state.checks import BadState
from core.swarm.traffic.meter import Line
from tests.learning.small_project import small_manifest
from tests.swarm.installed import SILENCE

EPOCH = 7


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    install(folder, Line(), silence=SILENCE)
    manifest = small_manifest()
    dht = join_swarm([], folder / "first.key")
    first = Follower(dht, manifest, build_model(manifest))
    trained = {name: tensor + 0.5 for name, tensor in first.tensors().items()}
    numbers = first.optimizer_numbers()
    checkpoints.save(folder, trained, epoch=EPOCH, run_id="small", metadata={"optimizer": json.dumps(numbers)})
    kept = checkpoints.latest(folder, "small")
    assert kept is not None
    first.restore(kept.epoch, kept.tensors, json.loads(kept.metadata["optimizer"]))

    other_dht = join_swarm(own_addresses(dht), folder / "second.key")
    second = Follower(other_dht, manifest, build_model(manifest))
    until_offered(other_dht, dht)
    caught_up = second.catch_up()
    poisoned = {name: tensor * float("nan") for name, tensor in trained.items()}
    print(
        json.dumps(
            {
                "caught_up": caught_up,
                "epoch": second.epoch,
                "same": checkpoints.digest(second.tensors()) == checkpoints.digest(trained),
                "again": second.catch_up(),
                "poisoned": refused(second, poisoned, numbers),
                "other model": refused(second, {name: tensor[:1] for name, tensor in trained.items()}, numbers),
                "unharmed": checkpoints.digest(second.tensors()) == checkpoints.digest(trained),
            }
        ),
        flush=True,
    )


def until_offered(dht: DHT, giver: DHT) -> None:
    """The giver's averager tells the DHT of its state in its own time."""
    deadline = time.monotonic() + 30.0
    while True:
        found = dht.get(f"{state_prefix('small')}.all_averagers", latest=True)
        if found is not None and giver.peer_id.to_bytes() in found.value:
            return
        assert time.monotonic() < deadline, "the state is not offered"
        time.sleep(0.1)


def refused(follower: Follower, tensors: dict[str, torch.Tensor], numbers: list[object]) -> str | None:
    try:
        follower.restore(EPOCH + 1, tensors, numbers)
    except BadState as error:
        return str(error)
    return None


if __name__ == "__main__":
    main()

"""One peer of the equivalence test: a process of its own, as every peer is.

Usage: equivalence_peer.py FOLDER INDEX PEERS EPOCHS TASK. Peer 0 writes its address to FOLDER/address, the others read
it. Each writes its parameters to FOLDER/INDEX.safetensors. A round that fails keeps its samples for the next.
"""

import contextlib
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import save_file

from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import RoundFailed
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import MICROBATCH, MICROBATCHES, averaging_of, make_model, microbatch_loss, training_of

DEADLINE = 120.0


def main() -> None:
    folder, index, peers, epochs = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    torch.set_num_threads(1)
    sockets = folder / f"sockets-{index}"
    sockets.mkdir()
    install(sockets, Link())
    address = folder / "address"
    dht = join_swarm([] if index == 0 else [address.read_text()], folder / f"identity-{index}")
    if index == 0:
        (folder / "address.part").write_text(own_addresses(dht)[0])
        (folder / "address.part").rename(address)
    model = make_model(sys.argv[5])
    optimizer = make_optimizer(
        dht=dht,
        run_id="equivalence",
        parameters=model.parameters(),
        training=training_of(sys.argv[5]),
        averaging=averaging_of(sys.argv[5]),
        backbone=ScriptedBackbone(),
        extrapolate=False,
    )
    deadline = time.monotonic() + DEADLINE
    for epoch in range(epochs):
        for microbatch in range(index, MICROBATCHES, peers):
            optimizer.grad_averager.lend()
            microbatch_loss(model, epoch, microbatch, sys.argv[5]).backward()
            with contextlib.suppress(RoundFailed):
                optimizer.step(batch_size=MICROBATCH)
            optimizer.zero_grad()
        while optimizer.local_epoch == epoch:
            if time.monotonic() > deadline:
                raise TimeoutError(f"epoch {epoch} did not end")
            time.sleep(0.02)
            with contextlib.suppress(RoundFailed):
                optimizer.follow()
    optimizer.state_averager.step(wait_for_delayed_updates=True, apply_delayed_updates=True)
    save_file(
        {name: value.detach().clone() for name, value in model.named_parameters()}, folder / f"{index}.safetensors"
    )
    # The others still need this peer for the round that averages the state.
    wait_for_all(folder, peers, deadline)
    optimizer.shutdown()
    dht.shutdown()


def wait_for_all(folder: Path, peers: int, deadline: float) -> None:
    while sum(1 for _ in folder.glob("[0-9].safetensors")) < peers and time.monotonic() < deadline:
        time.sleep(0.05)


if __name__ == "__main__":
    main()

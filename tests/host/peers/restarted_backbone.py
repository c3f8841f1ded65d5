"""A backbone that comes back with its checkpoint, among peers that offer other states. One process of its own.

Usage: restarted_backbone.py FOLDER. Prints as JSON what the backbone made of each offer.
"""

import contextlib
import json
import logging
import os
import sys
from pathlib import Path

import msgspec
import torch
from transformers import PreTrainedModel

from core.api.project.projects import Figure
from core.host.auxiliary_peer import AuxiliaryPeer
from core.host.project import Host
from core.learning.model import build_model
from core.learning.tasks.task import Evaluation
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.dht.progress.credible_progress import Disbelief
from core.swarm.errors import StateUnavailable
from core.swarm.patches import install
from core.swarm.state.update_chain import UpdateChain, extended
from core.swarm.traffic.link import Link
from tests.learning.small_project import small_manifest
from tests.waiting import wait_for

EPOCH, LATER = 7, 9


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(1)
    logging.basicConfig(level=logging.WARNING)
    install(folder, Link())
    manifest = small_manifest()
    model = build_model(manifest)
    fresh = parameters_of(model)
    train(model)
    learned = parameters_of(model)
    evaluated = build_model(manifest)
    dht = join_swarm([], folder / "backbone.key")
    backbone = AuxiliaryPeer(dht, manifest, evaluated, Host(), evaluate=lambda: evaluation(evaluated))
    chain = chained((), EPOCH)
    place(backbone._optimizer, learned, EPOCH, chain)

    peers = []
    for number in range(2):
        other = join_swarm(own_addresses(dht), folder / f"{number}.key")
        peers.append(AuxiliaryPeer(other, manifest, build_model(manifest), Host()))

    def offered(*offers: tuple[list[torch.Tensor], UpdateChain]) -> int:
        """The epoch of the backbone after they were offered, each by a peer of its own."""
        for peer, (parameters, updates) in zip(peers, offers, strict=False):
            place(peer._optimizer, parameters, LATER, updates)
        averager = backbone._optimizer.state_averager
        wait_for(lambda: [epoch for _, epoch in averager.donors()].count(LATER) == len(offers), 30.0, "the offers")
        # Each offer is that of somebody new.
        averager._distrusted = Disbelief()
        with contextlib.suppress(StateUnavailable):
            backbone._optimizer.load_state_from_peers()
        return backbone.epoch

    continued, alien = chained(chain, LATER), chained((), LATER)
    print(
        json.dumps(
            {
                "fresh, with most votes": offered((fresh, continued), (fresh, continued)),
                "of another chain": offered((learned, alien), (learned, alien)),
                "the run's": offered((learned, continued), (learned, continued)),
            }
        ),
        flush=True,
    )
    # hivemind's threads would be waited for.
    os._exit(0)


def parameters_of(model: PreTrainedModel) -> list[torch.Tensor]:
    return [parameter.detach().clone() for parameter in model.parameters()]


def tokens() -> torch.Tensor:
    return torch.randint(5, 60, (8, 16), generator=torch.Generator().manual_seed(0))


def train(model: PreTrainedModel) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(30):
        model(input_ids=tokens(), labels=tokens()).loss.backward()
        optimizer.step()
        optimizer.zero_grad()


@torch.no_grad()
def evaluation(model: PreTrainedModel) -> Evaluation:
    loss = float(model(input_ids=tokens(), labels=tokens()).loss)
    return Evaluation(loss, Figure("perplexity", loss))


def chained(chain: UpdateChain, epoch: int) -> UpdateChain:
    for made in range(chain[-1].epoch + 1 if chain else 1, epoch + 1):
        chain = extended(chain, made, [os.urandom(8), os.urandom(8)])
    return chain


def place(optimizer: CollaborativeOptimizer, parameters: list[torch.Tensor], epoch: int, updates: UpdateChain) -> None:
    """The peer has this state now, and offers it."""
    metadata, tensors = optimizer.state_averager.snapshot()
    changed = {**metadata, "epoch": epoch, "updates": msgspec.to_builtins(updates)}
    optimizer.resume_from((changed, [*parameters, *tensors[len(parameters) :]]))


if __name__ == "__main__":
    main()

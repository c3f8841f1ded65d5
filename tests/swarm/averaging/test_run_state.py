"""Catching up, with two real peers: by the updates that were missed, if they are few, and otherwise by the state."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import torch

from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import RunTooFast
from core.swarm.state.checks import State, digest_of
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import AVERAGING, TRAINING, make_model
from tests.swarm.installed import installed
from tests.waiting import wait_for


@dataclass
class Peer:
    optimizer: CollaborativeOptimizer
    backbone: ScriptedBackbone
    """Of its run; says how far that is."""

    @property
    def parameters(self) -> str:
        return digest_of(self.optimizer.state_averager.snapshot()[1])

    @property
    def epoch(self) -> int:
        return int(self.optimizer.local_epoch)

    def make_updates(self, count: int) -> None:
        """As if a group had averaged for each of them."""
        state, gradients = self.optimizer.state_averager, self.optimizer.grad_averager
        for _ in range(count):
            with torch.no_grad(), gradients.get_tensors() as tensors:
                for tensor in tensors:
                    tensor.copy_(torch.randn_like(tensor))
            gradients.keep_average()
            state.nonces = (os.urandom(8), os.urandom(8))
            state.step(increment_epoch=True, optimizer_step=True)
            self.optimizer.run_state.publish_update()
        self.optimizer.share_state(self.epoch)
        state.allow_state_sharing = True


@pytest.fixture
def link(short_folder: Path) -> Iterator[Link]:
    with installed(short_folder) as made:
        yield made


@pytest.fixture
def peers(short_folder: Path, link: Link) -> Iterator[tuple[Peer, Peer]]:
    """One that makes the updates of a run, and keeps as many as a backbone, and one that may miss them."""
    made: list[Peer] = []
    first: list[str] = []
    for number in range(2):
        dht = join_swarm(first, short_folder / f"{number}.key")
        first = first or own_addresses(dht)
        backbone = ScriptedBackbone()
        parameters = make_model().parameters()
        optimizer = make_optimizer(
            dht=dht, run_id="run", parameters=parameters, training=TRAINING, averaging=AVERAGING, backbone=backbone
        )
        made.append(Peer(optimizer, backbone))
    ahead, behind = made
    ahead.optimizer.grad_averager.most_kept = ahead.optimizer.run_state.most_missed
    yield ahead, behind
    for peer in made:
        peer.optimizer.shutdown()
        peer.optimizer.dht.shutdown()


def miss(behind: Peer, ahead: Peer) -> None:
    """The peer knows how far the run is, and who gives what."""
    behind.backbone.run_epoch = ahead.epoch
    offered = behind.optimizer.state_averager.donors
    wait_for(lambda: [epoch for _, epoch in offered()] == [ahead.epoch], 20.0)


def test_a_few_missed_updates_are_made_up_for_by_their_averages(peers: tuple[Peer, Peer]) -> None:
    ahead, behind = peers
    assert behind.optimizer.run_state.most_missed == 3  # LAMB's state is three times the parameters
    ahead.make_updates(3)
    miss(behind, ahead)
    behind.optimizer.load_state_from_peers()
    assert behind.epoch == 3
    assert behind.parameters == ahead.parameters
    assert ahead.optimizer.state_averager.states_given == 0
    assert ahead.optimizer.grad_averager.states_given == 3


def test_more_missed_updates_than_are_worth_it_are_made_up_for_by_the_state(peers: tuple[Peer, Peer]) -> None:
    ahead, behind = peers
    ahead.make_updates(4)
    miss(behind, ahead)
    behind.optimizer.load_state_from_peers()
    assert behind.parameters == ahead.parameters
    assert ahead.optimizer.state_averager.states_given == 1
    assert ahead.optimizer.grad_averager.states_given == 0


def test_what_the_run_did_while_a_state_was_on_its_way_is_made_up_for_by_updates(
    peers: tuple[Peer, Peer],
) -> None:
    """So a line that is too slow to fetch a state within an epoch can still follow."""
    ahead, behind = peers
    ahead.make_updates(4)
    miss(behind, ahead)
    behind.optimizer.state_averager.approve = lambda state: go_on(state, ahead, behind, updates=2)
    behind.optimizer.load_state_from_peers()
    assert behind.epoch == 6
    assert behind.parameters == ahead.parameters
    assert ahead.optimizer.state_averager.states_given == 1


def test_who_is_left_further_behind_by_every_state_gives_up_at_the_third(peers: tuple[Peer, Peer]) -> None:
    ahead, behind = peers
    ahead.make_updates(4)
    miss(behind, ahead)
    behind.optimizer.state_averager.approve = lambda state: go_on(state, ahead, behind, updates=4)
    for given in (1, 2):
        behind.optimizer.load_state_from_peers()
        assert ahead.optimizer.state_averager.states_given == given
    with pytest.raises(RunTooFast):
        behind.optimizer.load_state_from_peers()


def test_who_comes_nearer_with_each_time_goes_on(peers: tuple[Peer, Peer]) -> None:
    ahead, behind = peers
    ahead.make_updates(9)
    miss(behind, ahead)
    for updates in (9, 8, 7, 6):
        behind.optimizer.state_averager.approve = partial(go_on, ahead=ahead, behind=behind, updates=updates)
        behind.optimizer.load_state_from_peers()
    assert behind.epoch < ahead.epoch


def go_on(state: State, ahead: Peer, behind: Peer, *, updates: int) -> None:
    """The run makes updates while the state is on its way."""
    assert state[0]["epoch"] == ahead.epoch
    ahead.make_updates(updates)
    miss(behind, ahead)

"""A peer whose parameters went another way than the run's, with real peers."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hivemind.utils.crypto import RSAPrivateKey

from core.swarm.averaging.averagers import CheckedStateAverager
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.state.fork_detection import ForkDetector
from core.swarm.state.update_chain import Mark, extended
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import AVERAGING, TRAINING, make_model
from tests.swarm.state_swarm import EPOCH, Swarm, digest, run_swarm, train


@pytest.fixture
def swarm(short_folder: Path, link: Link) -> Iterator[Swarm]:
    with run_swarm(short_folder, link) as made:
        yield made


def trail(group: int) -> tuple[Mark, ...]:
    """Of a peer that has come to EPOCH in rounds of that many."""
    made: tuple[Mark, ...] = ()
    for epoch in range(1, EPOCH + 1):
        made = extended(made, epoch, [os.urandom(8) for _ in range(group)])
    return made


@pytest.fixture
def run(swarm: Swarm) -> Iterator[list[CheckedStateAverager]]:
    """Two peers of a run, which tell of their way."""
    way, watches = trail(2), list[ForkDetector]()
    donors = [swarm.donor(), swarm.donor()]
    for donor in donors:
        donor.trail = way
        watches.append(ForkDetector(donor.dht, "run", gives=True, key=RSAPrivateKey()))
        watches[-1].start()
        watches[-1].tell(way)
    yield donors
    for watch in watches:
        watch.stop()
        watch.join()


@pytest.fixture
def volunteer(swarm: Swarm, run: list[CheckedStateAverager]) -> Iterator[CollaborativeOptimizer]:
    made: CollaborativeOptimizer = make_optimizer(
        dht=swarm.join(),
        run_id="run",
        parameters=make_model().parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=ScriptedBackbone(),
    )
    swarm.until_announced(made.state_averager, len(run))
    yield made
    made.shutdown()


def go_another_way(volunteer: CollaborativeOptimizer, way: tuple[Mark, ...]) -> None:
    train(volunteer.state_averager, EPOCH)
    with torch.no_grad():
        for parameter in volunteer.state_averager.optimizer.param_groups[0]["params"]:
            parameter.add_(0.5)
    metadata, tensors = volunteer.state_averager.snapshot()
    volunteer.resume_from(EPOCH, metadata["optimizer_metadata"], tensors, [list(mark_of(mark)) for mark in way])


def mark_of(mark: Mark) -> tuple[int, int, str]:
    return mark.epoch, mark.group, mark.name


def test_a_peer_alone_on_its_way_takes_over_the_state_of_the_run(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    go_another_way(volunteer, trail(1))
    assert digest(volunteer.state_averager) != digest(run[0])

    def is_back() -> bool:
        volunteer.follow()
        return volunteer.state_averager.trail == run[0].trail

    swarm.until(is_back)
    assert volunteer.local_epoch == EPOCH
    assert digest(volunteer.state_averager) == digest(run[0])
    assert sum(donor.states_given for donor in run) == 1


def test_a_peer_on_the_way_of_the_run_fetches_nothing(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    go_another_way(volunteer, run[0].trail)
    other = ForkDetector(swarm.join(), "run", gives=True, key=RSAPrivateKey())
    other.start()
    other.tell(trail(1))
    # Once the stray one has seen that it is astray, the volunteer can have seen it, too.
    swarm.until(lambda: other.canonical_fork() is not None)
    other.stop()
    other.join()
    volunteer.follow()
    assert sum(donor.states_given for donor in run) == 0


def test_a_donor_that_only_claims_to_be_on_the_way_is_not_believed(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    for donor in run:
        donor.trail = trail(2)
    go_another_way(volunteer, trail(1))
    before = digest(volunteer.state_averager)
    swarm.until(lambda: volunteer._forks.canonical_fork() is not None)
    volunteer.follow()
    assert volunteer._forks.canonical_fork() is None, "it goes on, and looks again after the next update"
    assert digest(volunteer.state_averager) == before

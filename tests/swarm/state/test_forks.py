"""A peer on another fork than the run's, with real peers."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import torch
from hivemind.utils import get_dht_time

from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.build import make_optimizer
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.records import own_subkey, read_records
from core.swarm.state.fork_detection import ForkDetector
from core.swarm.state.update_chain import ReportedChain, UpdateChain, extended
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import AVERAGING, TRAINING, make_model
from tests.swarm.state_swarm import EPOCH, Swarm, digest, run_swarm, train


@pytest.fixture
def swarm(short_folder: Path, link: Link) -> Iterator[Swarm]:
    with run_swarm(short_folder, link) as made:
        yield made


def chain(group: int) -> UpdateChain:
    """Of a peer that has come to EPOCH in rounds of that many."""
    made: UpdateChain = ()
    for epoch in range(1, EPOCH + 1):
        made = extended(made, epoch, [os.urandom(8) for _ in range(group)])
    return made


@pytest.fixture
def run(swarm: Swarm) -> Iterator[list[CheckedStateAverager]]:
    """Two peers of a run, which publish their updates."""
    updates, detectors = chain(2), list[ForkDetector]()
    donors = [swarm.donor(), swarm.donor()]
    for donor in donors:
        donor.updates = updates
        detectors.append(ForkDetector(donor.dht, "run", shares_state=True))
        detectors[-1].start()
        detectors[-1].publish(updates)
    yield donors
    for detector in detectors:
        detector.stop()
        detector.join()


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


def resume_on(updates: UpdateChain, volunteer: CollaborativeOptimizer) -> None:
    """With other parameters than the run's."""
    train(volunteer.state_averager, EPOCH)
    with torch.no_grad():
        for parameter in volunteer.state_averager.optimizer.param_groups[0]["params"]:
            parameter.add_(0.5)
    metadata, tensors = volunteer.state_averager.snapshot()
    volunteer.resume_from(({**metadata, "updates": msgspec.to_builtins(updates)}, tensors))


def test_a_peer_alone_on_its_fork_takes_over_the_state_of_the_run(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    resume_on(chain(1), volunteer)
    assert digest(volunteer.state_averager) != digest(run[0])

    def is_back() -> bool:
        volunteer.follow()
        return volunteer.state_averager.updates == run[0].updates

    swarm.until(is_back)
    assert volunteer.local_epoch == EPOCH
    assert digest(volunteer.state_averager) == digest(run[0])
    assert sum(donor.states_given for donor in run) == 1


def test_a_peer_on_the_fork_of_the_run_fetches_nothing(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    resume_on(run[0].updates, volunteer)
    other = ForkDetector(swarm.join(), "run", shares_state=True)
    other.start()
    other.publish(chain(1))
    # Once the peer on the other fork has seen it, the volunteer can have seen it, too.
    swarm.until(lambda: other.canonical_fork is not None)
    other.stop()
    other.join()
    volunteer.follow()
    assert sum(donor.states_given for donor in run) == 0


def test_a_donor_that_only_claims_to_be_on_the_fork_is_not_believed(
    swarm: Swarm, run: list[CheckedStateAverager], volunteer: CollaborativeOptimizer
) -> None:
    for donor in run:
        donor.updates = chain(2)
    resume_on(chain(1), volunteer)
    before = digest(volunteer.state_averager)
    swarm.until(lambda: volunteer.run_state.has_forked)
    volunteer.follow()
    assert not volunteer.run_state.has_forked, "it goes on, and looks again after the next update"
    assert digest(volunteer.state_averager) == before


@pytest.mark.parametrize("is_backbone", [True, False])
def test_who_only_says_that_it_is_the_backbone_takes_nobody_to_another_fork(
    swarm: Swarm, short_folder: Path, is_backbone: bool
) -> None:
    backbone = swarm.join()
    organiser = RunRecordPublisher(backbone, "run", short_folder / "0.key")
    organiser.publish(EPOCH, time.time())
    swarm.until(organiser.is_found)
    writer = backbone if is_backbone else swarm.join()
    said = msgspec.msgpack.encode(ReportedChain(backbone.peer_id.to_bytes(), chain(2), shares_state=True))
    assert writer.store("run_updates", said, get_dht_time() + 60.0, subkey=own_subkey(writer.peer_id))
    volunteer = swarm.join()
    detector = ForkDetector(volunteer, "run", shares_state=False, backbones=[backbone.peer_id.to_bytes()])
    detector.start()
    detector.publish(chain(2))
    # It looks for forks when it has said where it is.
    swarm.until(lambda: own_subkey(volunteer.peer_id) in read_records(volunteer, "run_updates"))
    detector.stop()
    detector.join()
    assert (detector.canonical_fork is not None) == is_backbone

"""A peer never steps on gradients of its own as if they were the swarm's: neither after a failed round nor cut off."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from hivemind.utils import get_dht_time

from core.api.project.manifest import Averaging
from core.swarm.averaging.auxiliary import AuxiliaryOptimizer
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.peer import LOOPBACK, join_swarm, own_addresses
from core.swarm.dht.progress.credible_progress import reports_in
from core.swarm.errors import Isolated, RoundFailed
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import MICROBATCH, TRAINING, make_model, microbatch_loss
from tests.swarm.installed import installed
from tests.swarm.state_swarm import digest

AVERAGING = Averaging(compression="none", matchmaking_time=1.0, averaging_timeout=4.0)
BATCH = TRAINING.target_batch_size


class Peer:
    """One that trains, in this process; `contact` are those whom one that only calls others begins with."""

    def __init__(self, folder: Path, opened: ExitStack, contact: Sequence[str] = ()) -> None:
        self.dht = join_swarm(contact, folder / "peer.key", None if contact else LOOPBACK)
        opened.callback(self.dht.shutdown)
        self.model = make_model()
        self.backbone = ScriptedBackbone()
        self.updates: list[Update] = []
        self.optimizer: CollaborativeOptimizer = make_optimizer(
            dht=self.dht,
            run_id="run",
            parameters=self.model.parameters(),
            training=TRAINING,
            averaging=AVERAGING,
            backbone=self.backbone,
            on_update=self.updates.append,
            extrapolate=False,
        )
        opened.callback(self.optimizer.shutdown)
        self.before = digest(self.optimizer.state_averager)

    def train(self, until: Callable[[], bool] = lambda: False) -> None:
        """Until something is raised, or that is so."""
        deadline = time.monotonic() + 40.0
        while not until():
            assert time.monotonic() < deadline
            self.compute()
            self.optimizer.step(batch_size=MICROBATCH)
            self.optimizer.zero_grad()
            time.sleep(0.2)  # the tracker tells the others every now and then

    def compute(self) -> None:
        """A microbatch, as a session does."""
        self.optimizer.grad_averager.lend()
        microbatch_loss(self.model, 0, 0).backward()

    @property
    def gradients_are_where_averages_are(self) -> bool:
        """Of the last microbatch."""
        with self.optimizer.grad_averager.get_tensors() as tensors:
            return {tensor.data_ptr() for tensor in tensors} == {
                parameter.grad.data_ptr() for parameter in self.model.parameters() if parameter.grad is not None
            }

    @property
    def has_moved(self) -> bool:
        return digest(self.optimizer.state_averager) != self.before or self.optimizer.local_epoch != 0


@pytest.fixture
def opened(short_folder: Path) -> Iterator[ExitStack]:
    with installed(short_folder), ExitStack() as stack:
        yield stack


@pytest.fixture
def peer(short_folder: Path, opened: ExitStack) -> Peer:
    return Peer(short_folder, opened)


class Ghost:
    """One more peer of the run, with half of the batch, that comes to no round. It loads its libraries meanwhile."""

    def __init__(self, folder: Path, opened: ExitStack, *what: str) -> None:
        folder.mkdir()
        subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
        script = [sys.executable, "-m", "tests.swarm.ghost_peer", str(folder), "run", str(BATCH // 2), *what]
        self._process = subprocess.Popen(
            [*subreaper, *script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        opened.callback(self._process.communicate, timeout=30)

    def appear(self, contact: str) -> None:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        print(contact, file=stdin, flush=True)
        assert stdout.readline() == "reported\n"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30.0
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_failed_round_moves_nothing_is_said_and_costs_no_samples(short_folder: Path, opened: ExitStack) -> None:
    ghost = Ghost(short_folder / "ghost", opened)
    peer = Peer(short_folder, opened)
    ghost.appear(own_addresses(peer.dht)[0])
    until(lambda: peer.optimizer.tracker.global_progress.num_peers == 2)
    with pytest.raises(RoundFailed, match=r"round_incomplete|round_not_started"):
        peer.train()
    assert not peer.has_moved
    assert not peer.updates
    assert peer.optimizer.own_samples >= BATCH // 2
    peer.optimizer.zero_grad()
    peer.compute()
    assert not peer.gradients_are_where_averages_are, "the round may go on in the averager's process"


def test_gradients_take_memory_of_averages_between_rounds_and_begin_at_zero(peer: Peer) -> None:
    microbatch_loss(peer.model, 0, 0).backward()
    apart = [parameter.grad.clone() for parameter in peer.model.parameters() if parameter.grad is not None]
    peer.optimizer.zero_grad()
    for _ in range(2):
        with peer.optimizer.grad_averager.get_tensors() as tensors:
            for tensor in tensors:
                tensor.fill_(7.0)
        peer.compute()
        assert peer.gradients_are_where_averages_are
        lent = [parameter.grad for parameter in peer.model.parameters() if parameter.grad is not None]
        assert all(map(torch.equal, lent, apart))
    peer.optimizer.zero_grad()
    peer.train(until=lambda: peer.optimizer.local_epoch == 1)
    peer.compute()
    assert peer.gradients_are_where_averages_are, "the update was made"


def test_who_is_cut_off_steps_only_when_somebody_is_back_and_what_was_accumulated_still_counts(peer: Peer) -> None:
    peer.backbone.is_there = False
    with pytest.raises(Isolated):
        peer.train()
    assert not peer.has_moved
    kept = peer.optimizer.own_samples
    assert kept >= BATCH
    with pytest.raises(Isolated):
        peer.optimizer.follow()
    peer.backbone.is_there = True
    peer.optimizer.follow()
    assert [update.own_samples for update in peer.updates] == [kept]
    assert peer.has_moved
    assert all(torch.isfinite(parameter).all() for parameter in peer.model.parameters())


def test_who_only_calls_others_does_not_train_alone_and_waits_for_somebody_who_listens(
    short_folder: Path, opened: ExitStack
) -> None:
    ghost, host = (Ghost(short_folder / name, opened, *what) for name, *what in (("ghost",), ("host", "listens")))
    contact = join_swarm([], short_folder / "contact.key")
    opened.callback(contact.shutdown)
    (address, *_) = own_addresses(contact)
    peer = Peer(short_folder, opened, [address])
    with pytest.raises(Isolated, match="no_peer_with_open_port"):
        peer.train()
    # One more who only calls others is of no help.
    ghost.appear(address)
    until(lambda: peer.optimizer.tracker.global_progress.num_peers == 2)
    assert not peer.optimizer.isolation.is_connected
    with pytest.raises(Isolated, match="no_peer_with_open_port"):
        peer.optimizer.follow()
    assert not peer.has_moved
    host.appear(address)
    until(lambda: peer.optimizer.isolation.is_connected)
    with pytest.raises(RoundFailed):
        peer.train()
    assert not peer.has_moved
    assert peer.optimizer.own_samples >= BATCH // 2


def test_an_auxiliary_peer_is_not_forgotten_while_it_is_busy(short_folder: Path, opened: ExitStack) -> None:
    """It may take minutes to catch up from a slow peer; a lone trainer that sees nobody would go on alone."""
    dht = join_swarm([], short_folder / "auxiliary.key")
    opened.callback(dht.shutdown)
    auxiliary = make_optimizer(
        dht=dht,
        run_id="run",
        parameters=make_model().parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=ScriptedBackbone(),
        kind=AuxiliaryOptimizer,
        averages=True,
        behind=1,
    )
    opened.callback(auxiliary.shutdown)

    def reported() -> list[float]:
        found = dht.get(auxiliary.tracker.training_progress_key, latest=True)
        return [report.time for report in reports_in(found and found.value, get_dht_time())]

    # It is never called to follow the run.
    until(lambda: len(reported()) == 1)
    (first,) = reported()
    until(lambda: reported() != [first])
    assert reported() > [first]

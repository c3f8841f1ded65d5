"""What coming back costs, with a real donor; and the way back from a diverged loss."""

import asyncio
import contextlib
import io
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, AsyncIterator, TypeAlias  # noqa: UP035 - hivemind knows only this one as a stream

import pytest
import torch
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2

from core.api.errors import WorldError
from core.api.message import Message
from core.api.session import Hold, Resume, Stage
from core.api.session_settings import SessionSettings
from core.api.snapshot import CatchUp
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.build import make_optimizer
from core.swarm.errors import Interrupted, RunTooFast
from core.swarm.traffic.link import Link
from core.trainer.control import Control
from core.trainer.local_copy import LocalCopy
from core.trainer.session_status import Joined, Measurements, SessionStatus
from core.trainer.state_sync import StateSync
from tests.fakes.backbone import ScriptedBackbone
from tests.swarm.fixed_data import AVERAGING, TRAINING, make_model
from tests.swarm.installed import installed
from tests.swarm.state_swarm import EPOCH, Swarm, digest, run_swarm, train

# hivemind reads the annotations of a call.
Request: TypeAlias = averaging_pb2.DownloadData
Response: TypeAlias = AsyncIterator[averaging_pb2.DownloadData]


@pytest.fixture
def link(short_folder: Path) -> Iterator[Link]:
    with installed(short_folder) as made:
        yield made


@pytest.fixture
def swarm(short_folder: Path, link: Link) -> Iterator[Swarm]:
    with run_swarm(short_folder, link) as made:
        yield made


class Volunteer:
    """What a session has when it begins."""

    def __init__(self, swarm: Swarm, folder: Path) -> None:
        self.control = Control(io.BytesIO(), SessionSettings())
        self.backbone = ScriptedBackbone()
        self.optimizer: CollaborativeOptimizer = make_optimizer(
            dht=swarm.join(),
            run_id="run",
            parameters=make_model().parameters(),
            training=TRAINING,
            averaging=AVERAGING,
            backbone=self.backbone,
            yielding=lambda: self.control.interrupted,
        )
        run = Joined(self.optimizer, TRAINING.target_batch_size, min_bandwidth=0)
        self.status = SessionStatus(Measurements(swarm.link), run, "joining")
        self.remarks: list[Message] = []
        self.copy = LocalCopy(folder, "run")
        self.state_sync = self.new_state_sync()

    def new_state_sync(self) -> StateSync:
        return StateSync(self.optimizer, self.copy, self.status, self.control, self.remarks.append)


@pytest.fixture
def donor(swarm: Swarm) -> CheckedStateAverager:
    return swarm.donor()


@pytest.fixture
def volunteer(swarm: Swarm, donor: CheckedStateAverager, tmp_path: Path) -> Iterator[Volunteer]:
    made = Volunteer(swarm, tmp_path / "copies")
    swarm.until_announced(made.optimizer.state_averager, 1)
    yield made
    made.optimizer.shutdown()


def test_with_a_copy_of_the_present_epoch_nothing_is_fetched(
    swarm: Swarm, donor: CheckedStateAverager, volunteer: Volunteer
) -> None:
    volunteer.copy.write(donor.snapshot())
    before = swarm.state_bytes
    volunteer.state_sync.begin()
    assert swarm.state_bytes == before
    assert volunteer.optimizer.local_epoch == EPOCH
    assert digest(volunteer.optimizer.state_averager) == digest(donor)
    assert donor.states_given == 0


def test_at_the_beginning_of_a_run_no_state_is_fetched(swarm: Swarm, tmp_path: Path) -> None:
    """A peer behind a slow line gives it too, and every peer makes the same itself."""
    donor = swarm.donor(epoch=0)
    volunteer = Volunteer(swarm, tmp_path / "copies")
    try:
        swarm.until_announced(volunteer.optimizer.state_averager, 1)
        before = swarm.state_bytes
        volunteer.state_sync.begin()
        assert swarm.state_bytes == before
        assert donor.states_given == 0
    finally:
        volunteer.optimizer.shutdown()


def test_when_the_run_has_moved_on_one_state_is_fetched_and_no_more(
    swarm: Swarm, donor: CheckedStateAverager, volunteer: Volunteer, capsys: pytest.CaptureFixture[str]
) -> None:
    volunteer.copy.write(donor.snapshot())
    train(donor, 2)
    donor.state_sharing_priority = EPOCH + 2
    swarm.until(lambda: volunteer.optimizer.run_state.run_epoch == EPOCH + 2)
    shown: list[CatchUp | None] = []
    enter = volunteer.status.enter

    def watch(stage: Stage, **situation: Any) -> None:
        enter(stage, **situation)
        shown.append(volunteer.status.report().catching_up)

    volunteer.status.enter = watch  # type: ignore[method-assign]
    before = swarm.state_bytes
    volunteer.state_sync.begin()
    fetched, size = swarm.state_bytes - before, volunteer.optimizer.state_averager.state_size()
    with capsys.disabled():
        print(f"\n{fetched} bytes fetched for a state of {size} bytes", end=" ")
    assert size <= fetched <= 1.25 * size
    assert volunteer.optimizer.local_epoch == EPOCH + 2
    assert digest(volunteer.optimizer.state_averager) == digest(donor)
    assert donor.states_given == 1
    assert CatchUp(EPOCH, EPOCH + 2) in shown


def test_a_peer_whose_line_is_slower_than_the_run_gives_up(donor: CheckedStateAverager, volunteer: Volunteer) -> None:
    """Whenever it has the state, the organiser vouches for a later one."""
    volunteer.backbone.run_epoch = EPOCH + 1
    for _ in range(2):
        volunteer.optimizer.load_state_from_peers()
    volunteer.backbone.run_epoch = EPOCH
    volunteer.optimizer.load_state_from_peers()
    volunteer.backbone.run_epoch = EPOCH + 1
    for _ in range(2):
        volunteer.optimizer.load_state_from_peers()
    with pytest.raises(RunTooFast) as raised:
        volunteer.optimizer.load_state_from_peers()
    assert raised.value.message.params["size"] == volunteer.optimizer.state_averager.state_size()
    assert donor.states_given == 6


def test_a_damaged_copy_costs_one_state_and_the_session_nothing(
    swarm: Swarm, donor: CheckedStateAverager, volunteer: Volunteer
) -> None:
    metadata, tensors = donor.snapshot()
    volunteer.copy.write((metadata, [tensor * float("nan") for tensor in tensors]))
    volunteer.state_sync.begin()
    assert donor.states_given == 1
    assert digest(volunteer.optimizer.state_averager) == digest(donor)
    assert volunteer.copy.read() is None


def test_what_a_session_leaves_behind_is_its_state(
    swarm: Swarm, donor: CheckedStateAverager, volunteer: Volunteer
) -> None:
    volunteer.state_sync.begin()
    volunteer.state_sync.last_copy()()
    kept = volunteer.copy.read()
    assert kept is not None
    assert kept[0]["epoch"] == EPOCH
    before = swarm.state_bytes
    volunteer.new_state_sync().begin()
    assert swarm.state_bytes == before


def test_a_diverged_loss_brings_the_last_good_state_back_with_a_remark(
    donor: CheckedStateAverager, volunteer: Volunteer
) -> None:
    volunteer.copy.write(donor.snapshot())
    volunteer.state_sync.begin()
    averager = volunteer.optimizer.state_averager
    good = digest(averager)
    with torch.no_grad():
        for group in averager.optimizer.param_groups:
            for parameter in group["params"]:
                parameter.fill_(float("nan"))
    assert not volunteer.state_sync.is_good(float("nan"))
    assert digest(averager) == good
    assert volunteer.optimizer.own_samples == 0
    (remark,) = volunteer.remarks
    assert remark == Message("loss_restored", {"epoch": EPOCH, "cause": Message("loss_not_finite"), "restored": EPOCH})


def test_after_three_returns_without_success_the_session_ends_and_leaves_no_copy_of_that(
    donor: CheckedStateAverager, volunteer: Volunteer
) -> None:
    volunteer.copy.write(donor.snapshot())
    volunteer.state_sync.begin()
    for _ in range(3):
        assert not volunteer.state_sync.is_good(float("inf"))
    with pytest.raises(WorldError, match="loss_diverged"):
        volunteer.state_sync.is_good(float("inf"))
    (path,) = volunteer.copy._folder.iterdir()
    before = path.stat().st_mtime_ns
    volunteer.state_sync.last_copy()()
    assert path.stat().st_mtime_ns == before


class Slow(CheckedStateAverager):
    async def rpc_download_state(self, request: Request, context: P2PContext) -> Response:
        async for message in super().rpc_download_state(request, context):
            await asyncio.sleep(0.05)
            yield message


@contextlib.contextmanager
def in_background(act: Callable[[], None]) -> Iterator[Future[None]]:
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(act)


@pytest.fixture
def slowly(swarm: Swarm, tmp_path: Path) -> Iterator[Volunteer]:
    """With a donor that takes seconds."""
    swarm.donor(Slow)
    made = Volunteer(swarm, tmp_path / "copies")
    swarm.until_announced(made.optimizer.state_averager, 1)
    yield made
    made.optimizer.shutdown()


def test_leaving_does_not_wait_for_a_state_that_is_on_its_way(swarm: Swarm, slowly: Volunteer) -> None:
    with in_background(slowly.state_sync.begin) as beginning:
        swarm.until(lambda: slowly.optimizer.state_averager.state_received > 0)
        slowly.control.leave()
        begin = time.monotonic()
        with pytest.raises(Interrupted):
            beginning.result(5.0)
    assert time.monotonic() - begin < 1.0
    assert slowly.optimizer.local_epoch == 0


def test_a_pause_while_the_state_is_on_its_way_delays_it(swarm: Swarm, slowly: Volunteer) -> None:
    averager = slowly.optimizer.state_averager
    with in_background(slowly.state_sync.begin) as beginning:
        swarm.until(lambda: averager.state_received > 0)
        slowly.control._apply(Hold())
        swarm.until(lambda: slowly.status.report().stage == "holding")
        received = swarm.state_bytes
        time.sleep(0.5)  # in which ten messages would come
        assert swarm.state_bytes == received
        slowly.control._apply(Resume())
        beginning.result(20.0)
    assert slowly.status.report().stage == "contributing"
    assert slowly.optimizer.local_epoch == EPOCH


def test_without_a_copy_the_state_is_fetched_again(donor: CheckedStateAverager, volunteer: Volunteer) -> None:
    volunteer.state_sync.begin()
    assert donor.states_given == 1
    assert not volunteer.state_sync.is_good(float("nan"))
    assert donor.states_given == 2
    assert volunteer.remarks[0].kind == "loss_refetched"

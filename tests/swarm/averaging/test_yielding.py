"""What an averager does with gradients of unequal microbatches, and how a peer gives up a round."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
import torch
from hivemind import DHT
from hivemind.averaging.control import AveragingStage
from hivemind.averaging.partition import AllreduceException

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.round_control import give_up
from core.swarm.dht.peer import join_swarm, own_addresses
from tests.swarm.averaging.peers.member import Member
from tests.swarm.installed import installed
from tests.waiting import wait_for


@pytest.fixture
def dht(short_folder: Path) -> Iterator[DHT]:
    with installed(short_folder):
        alone = join_swarm([], short_folder / "identity")
        yield alone
        alone.shutdown()


@pytest.fixture
def parameter() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.zeros(3))


@pytest.fixture
def averager(dht: DHT, parameter: torch.nn.Parameter) -> Iterator[EpochGradientAverager]:
    one = EpochGradientAverager(
        epoch=lambda: 0, parameters=[parameter], dht=dht, prefix="run", min_matchmaking_time=1.0, start=True
    )
    yield one
    one.shutdown()


def accumulate(averager: EpochGradientAverager, parameter: torch.nn.Parameter, samples: list[float]) -> None:
    """A microbatch: the gradient is the mean of its samples."""
    parameter.grad = torch.full((3,), sum(samples) / len(samples))
    averager.accumulate_grads_(len(samples))


def handed_over(averager: EpochGradientAverager) -> list[float]:
    averager.load_accumulators_into_averager_()
    with averager.get_tensors() as tensors:
        return [float(value) for value in tensors[0]]


@pytest.mark.parametrize("sizes", [(4, 4, 4), (1, 4, 7), (7, 4, 1), (12,)])
def test_the_gradient_is_the_mean_over_all_samples_whatever_the_microbatches(
    averager: EpochGradientAverager, parameter: torch.nn.Parameter, sizes: tuple[int, ...]
) -> None:
    samples = [float(number) for number in range(12)]
    for size in sizes:
        accumulate(averager, parameter, [samples.pop(0) for _ in range(size)])
    assert handed_over(averager) == pytest.approx([5.5] * 3)
    assert averager.local_samples_accumulated == 12


def test_what_was_brought_to_a_round_that_fails_counts_in_the_next_one(
    averager: EpochGradientAverager, parameter: torch.nn.Parameter
) -> None:
    accumulate(averager, parameter, [1.0, 2.0, 3.0])
    control = averager.step(wait=False, timeout=1.5)
    with pytest.raises(AllreduceException):
        control.result(20.0)
    averager.notify_used_averaged_gradients()
    assert averager.local_samples_accumulated == 3
    accumulate(averager, parameter, [10.0])
    assert handed_over(averager) == pytest.approx([4.0] * 3)


def test_what_is_accumulated_during_a_round_counts_in_the_next_one_alone_or_with_what_a_failed_one_had(
    averager: EpochGradientAverager, parameter: torch.nn.Parameter
) -> None:
    accumulate(averager, parameter, [1.0, 2.0, 3.0])
    averager.set_apart()
    accumulate(averager, parameter, [10.0])
    assert (averager.samples_of_round, averager.local_samples_accumulated) == (3, 4)
    averager.take_back()
    assert (averager.samples_of_round, averager.local_samples_accumulated) == (4, 4)
    assert handed_over(averager) == pytest.approx([4.0] * 3)
    for later in (20.0, 30.0):
        averager.set_apart()
        accumulate(averager, parameter, [later, later])
        averager.reset_accumulated_grads_()
        assert (averager.samples_of_round, averager.local_samples_accumulated) == (2, 2)
        assert handed_over(averager) == pytest.approx([later] * 3)
    averager.reset_accumulated_grads_()
    assert averager.local_samples_accumulated == 0
    assert handed_over(averager) == [0.0] * 3


def test_a_cancelled_search_for_a_group_ends_in_the_averagers_process_too(averager: EpochGradientAverager) -> None:
    process = psutil.Process(averager.pid)
    for _ in range(6):
        control = averager.step(wait=False, timeout=30.0)
        deadline = time.monotonic() + 10.0
        while control.stage != AveragingStage.LOOKING_FOR_GROUP:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.2)
        assert control.cancel()
        assert not control.cancel() or control.cancelled()
    # A search asks the DHT without a pause; a process that searches for nobody would go on with it for half a minute.
    time.sleep(0.5)
    before = sum(process.cpu_times()[:2])
    time.sleep(1.0)
    assert sum(process.cpu_times()[:2]) - before < 0.1


def test_a_round_given_up_in_its_first_moment_does_not_search_either(averager: EpochGradientAverager) -> None:
    process = psutil.Process(averager.pid)
    for _ in range(20):
        control = averager.schedule_step(timeout=30.0)
        give_up(control)
        assert control.cancelled()
    time.sleep(0.5)
    before = sum(process.cpu_times()[:2])
    time.sleep(1.0)
    assert sum(process.cpu_times()[:2]) - before < 0.1


def test_a_round_given_up_with_its_group_delays_no_microbatch_and_takes_nothing_of_the_last_one(
    short_folder: Path,
) -> None:
    made: list[Member] = []

    def expected() -> dict[bytes, float]:
        return {member.dht.peer_id.to_bytes(): 0.0 for member in made}

    with installed(short_folder), ExitStack() as opened:
        for value in (1.0, 2.0, 6.0):
            contact = own_addresses(made[0].dht) if made else []
            made.append(Member(short_folder, value, contact, opened, matchmaking_time=15.0, expected=expected))
        held, *others = made
        control, *controls = (member.begin() for member in made)
        wait_for(lambda: control.stage == AveragingStage.AWAITING_TRIGGER, 15.0, "a group")
        held.averager.lend()
        for parameter in held.averager.parameters:
            assert parameter.grad is not None
            parameter.grad.fill_(float("nan"))
        held.averager.give_up_round(control)
        wait_for(lambda: control.stage == AveragingStage.RUNNING_ALLREDUCE, 15.0, "the round")
        # Its process has all of the averages until the others have come.
        began = time.monotonic()
        lending = threading.Thread(target=held.averager.lend)
        lending.start()
        lending.join(5.0)
        took = time.monotonic() - began
        for other in controls:
            other.allow_allreduce()
        groups = [other.result(15.0) for other in controls]
        lending.join(15.0)
        assert took < 1.0
        assert [len(group) for group in groups] == [3, 3]
        assert [member.gradient for member in others] == [4.0, 4.0]
        assert all(parameter.grad is None for parameter in held.averager.parameters), "nor is anything added to them"

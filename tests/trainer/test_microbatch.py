"""Microbatches: as large as memory and latency allow, every sample once."""

from collections.abc import Iterator

import pytest
import torch

from core.api.errors import WorldError
from core.learning.order import Order, Samples
from core.learning.tasks.task import Batch
from core.trainer.microbatch import Microbatches, Size, Stopped

CPU = torch.device("cpu")


def test_without_a_target_a_microbatch_is_as_large_as_the_project_says() -> None:
    size = Size(16)
    size.record(16, 10.0)
    assert size.next(0) == 16


def test_it_starts_small_when_nothing_is_known_of_the_speed() -> None:
    assert Size(16).next(100) == 1


@pytest.mark.parametrize(("per_sample", "expected"), [(0.001, 16), (0.01, 10), (0.05, 2), (0.3, 1)])
def test_it_settles_at_what_fits_into_the_target(per_sample: float, expected: int) -> None:
    size = Size(16)
    for _ in range(20):
        samples = size.next(100)
        size.record(samples, samples * per_sample)
    assert size.next(100) == expected


def test_a_fixed_cost_of_each_microbatch_does_not_push_it_over_the_target() -> None:
    size = Size(64)
    for _ in range(50):
        samples = size.next(100)
        size.record(samples, 0.03 + samples * 0.005)
    assert 0.08 <= 0.03 + size.next(100) * 0.005 <= 0.11


def test_one_slow_microbatch_does_not_change_much() -> None:
    size = Size(16)
    for _ in range(20):
        size.record(8, 0.08)
    size.record(8, 0.16)
    assert size.next(100) >= 7


def test_it_never_falls_below_the_least_that_the_task_can_use() -> None:
    size = Size(64, least=16)
    assert size.next(100) == 16
    size.record(16, 16.0)
    assert size.next(100) == 16
    size.halve(32)
    assert size.next(0) == 16
    with pytest.raises(WorldError):
        size.halve(16)


class Numbers:
    """A task whose model learns nothing and tells which samples it saw; more than `room` at a time do not fit."""

    least_samples = 1

    def __init__(self, room: int = 1000) -> None:
        self.seen: list[int] = []
        self.sizes: list[int] = []
        self._room = room

    def batches(self, *_: object) -> Iterator[Batch]:
        for start in range(0, 10_000, 16):
            yield {"x": torch.arange(start, start + 16)}

    def loss(self, model: torch.nn.Module, batch: Batch, _epoch: int) -> torch.Tensor:
        rows = batch["x"]
        if len(rows) > self._room:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.seen += rows.tolist()
        self.sizes.append(len(rows))
        weight = next(model.parameters())
        return (weight * rows.float().mean()).sum()

    def evaluate(self, *_: object) -> float:
        return 0.0


def microbatches(task: Numbers, model: torch.nn.Module | None = None) -> Microbatches:
    model = model or torch.nn.Linear(1, 1, bias=False)
    order = Order(task, lambda _seed, _portion: (), 16, "run", b"peer")  # type: ignore[arg-type]  # it has no example
    return Microbatches(order, model, CPU)  # type: ignore[arg-type]  # any module will do


def test_every_sample_is_computed_once_and_in_order_whatever_the_sizes() -> None:
    task = Numbers()
    work = microbatches(task)
    for target in [0, 100, 100, 0, 1, 1, 0, 100]:
        assert work.compute(0, target).samples == task.sizes[-1]
    assert task.seen == list(range(len(task.seen)))


def test_no_microbatch_leaves_fewer_samples_of_its_batch_than_the_task_can_use() -> None:
    task = Numbers()
    task.least_samples = 5
    samples = Samples(Order(task, lambda _seed, _portion: (), 16, "run", b"peer"))  # type: ignore[arg-type]  # it has no example
    taken = [samples.take(0, 6)[0].count for _ in range(4)]
    assert taken == [6, 10, 6, 10], "after 6 more, 4 would remain"


def test_too_little_memory_halves_the_microbatch_and_loses_no_sample() -> None:
    task = Numbers(room=5)
    work = microbatches(task)
    assert [work.compute(0, 0).samples for _ in range(5)] == [4, 4, 4, 4, 4]
    assert task.seen == list(range(20))


def test_too_little_memory_for_one_sample_is_a_failure_of_its_own() -> None:
    with pytest.raises(WorldError, match="gpu_memory_full"):
        microbatches(Numbers(room=0)).compute(0, 0)


def test_a_gpu_that_fails_is_a_failure_of_its_own() -> None:
    class Failing(Numbers):
        def loss(self, model: torch.nn.Module, batch: Batch, _epoch: int) -> torch.Tensor:
            raise torch.AcceleratorError("CUDA error: unspecified launch failure\nmore\nlines")

    with pytest.raises(WorldError, match=r"^gpu_failed detail=CUDA error: unspecified launch failure$"):
        microbatches(Failing()).compute(0, 0)


class Layered(Numbers):
    """Its loss is that of a model of several layers."""

    def loss(self, model: torch.nn.Module, batch: Batch, _epoch: int) -> torch.Tensor:
        super().loss(model, batch, _epoch)
        loss: torch.Tensor = model(batch["x"].float()[:, None] / 16).square().mean()
        return loss


@pytest.mark.parametrize("at", range(1, 7))
def test_a_command_ends_a_microbatch_at_its_next_layer_and_its_samples_come_next(at: int) -> None:
    """Forward or backward; a pause must not wait for a second of computing."""
    model = torch.nn.Sequential(*(torch.nn.Linear(1, 1) for _ in range(3)))
    checks = iter(range(1, 100))
    task, order = Layered(), Order(Layered(), lambda _seed, _portion: (), 16, "run", b"peer")  # type: ignore[arg-type]
    undisturbed = Microbatches(order, model, CPU)  # type: ignore[arg-type]  # any module will do
    expected = undisturbed.compute(0, 0)
    gradients = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
    model.zero_grad()
    order = Order(task, lambda _seed, _portion: (), 16, "run", b"peer")  # type: ignore[arg-type]  # it has no example
    work = Microbatches(order, model, CPU, lambda: next(checks) == at)  # type: ignore[arg-type]
    with pytest.raises(Stopped):
        work.compute(0, 0)
    assert all(parameter.grad is None for parameter in model.parameters())
    again = work.compute(0, 0)
    assert (again.piece, again.loss) == (expected.piece, expected.loss)
    assert task.seen == [*range(16), *range(16)]
    for parameter, gradient in zip(model.parameters(), gradients, strict=True):
        assert torch.equal(parameter.grad, gradient)  # type: ignore[arg-type]  # they are there


def test_gradients_of_a_failed_try_are_gone() -> None:
    model = torch.nn.Linear(1, 1, bias=False)
    work = microbatches(Numbers(room=8), model)
    work.compute(0, 0)
    assert model.weight.grad is not None
    assert model.weight.grad.item() == pytest.approx(3.5)

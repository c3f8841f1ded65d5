"""Microbatches: as large as memory and latency allow, every sample once."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch

from core.api.errors import WorldError
from core.learning.order import Order, Samples
from core.learning.tasks.task import Batch
from core.trainer.microbatch import Microbatches, Stopped
from tests.end_to_end.machine import ROOT

CPU = torch.device("cpu")


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


class Model(torch.nn.Module):
    """One of a layer of layers."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(4, 1, 8, batch_first=True)


def test_before_a_card_is_too_small_layers_keep_less(caplog: pytest.LogCaptureFixture) -> None:
    class Thrifty(Numbers):
        def loss(self, model: torch.nn.Module, batch: Batch, epoch: int) -> torch.Tensor:
            if "forward" not in vars(model.layer):
                self._room = 0
            elif not self._room:
                self._room = 8
            return super().loss(model, batch, epoch)

    task, model = Thrifty(), Model()
    with caplog.at_level("INFO"):
        work = microbatches(task, model)
        assert [work.compute(0, 0).samples for _ in range(4)] == [8, 8, 8, 8]
    assert task.seen == list(range(32)), "every sample once, in microbatches as large as fit then"
    assert "gradient checkpointing begins" in caplog.text


def test_microbatches_stay_within_the_memory_that_the_volunteer_allows() -> None:
    size = 200 << 20
    limited = memory_limited(size)
    assert 16 * limited[0]["taken"] > 2 * size, "or the project's microbatch would fit"
    assert all(one["over"] <= 0 for one in limited)
    assert max(one["samples"] for one in limited) >= 4, "no smaller than it has to be"


def test_where_one_sample_does_not_fit_its_layers_keep_less() -> None:
    # A pass takes 50 MB with layers computed twice, and 188 without. By default glibc keeps more and more of what was
    # freed (mallopt(3)), which makes that 136 to 186 and 231 to 256.
    limited = memory_limited(110 << 20, length=1024, MALLOC_MMAP_THRESHOLD_="131072")
    assert limited[0]["over"] > 0, "the first one shows how much it takes"
    assert all(one["over"] <= 0 for one in limited[1:])


def test_a_limit_that_is_too_low_for_one_sample_ends_the_session() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        memory_limited(1 << 20)
    assert "memory_over_limit" in failed.value.stderr


def memory_limited(limit: int, length: int = 128, **variables: str) -> list[dict[str, int]]:
    """What `tests.trainer.memory_limited` says of each microbatch."""
    command = [sys.executable, "-m", "tests.trainer.memory_limited", str(limit), str(length)]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True, timeout=120, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


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

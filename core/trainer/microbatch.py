"""One microbatch after the other, as large as the project declares, or smaller where memory or latency require it."""

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError
from core.learning.flops import counting
from core.learning.tasks.task import Batch, Task

log = logging.getLogger(__name__)

_NEWEST_COUNTS = 0.3
"""Weight of the last microbatch in the smoothed time per sample."""


@dataclass(frozen=True)
class Microbatch:
    samples: int
    loss: float
    seconds: float
    flops_per_sample: float | None = None
    """Of forward and backward pass; None if it could not be counted."""


class Size:
    """Chooses the number of samples of the next microbatch."""

    def __init__(self, largest: int) -> None:
        """`largest` is the project's size."""
        self._largest = largest
        self._per_sample: float | None = None

    def next(self, latency_target: int) -> int:
        """`latency_target` is in milliseconds; 0: none."""
        if not latency_target:
            return self._largest
        if self._per_sample is None:
            return 1
        return max(1, min(self._largest, int(latency_target / 1000 / self._per_sample)))

    def record(self, samples: int, seconds: float) -> None:
        newest = seconds / samples
        before = self._per_sample or newest
        self._per_sample = before + (newest - before) * _NEWEST_COUNTS

    def halve(self, samples: int) -> None:
        """Halve the size, because memory was too small for `samples`.

        Raises:
            WorldError: memory is too small even for one sample.
        """
        if samples == 1:
            raise WorldError("gpu_memory_full")
        self._largest = samples // 2


class Microbatches:
    """Computes gradients into the model's parameters."""

    def __init__(
        self, task: Task, model: PreTrainedModel, batches: Iterator[Batch], largest: int, device: torch.device
    ) -> None:
        self._task, self._model, self._batches, self._device = task, model, batches, device
        self._size = Size(largest)
        self._rest: Batch = {}
        self._flops_per_sample: float | None = None
        """Counted in the first microbatch only: all samples have the same length."""

    def compute(self, latency_target: int) -> Microbatch:
        """Forward and backward pass over the next samples.

        Raises:
            WorldError: the GPU fails, or has too little memory.
        """
        while True:
            batch, begin = self._take(self._size.next(latency_target)), time.perf_counter()
            samples = _rows(batch)
            try:
                loss = self._gradients(batch)
            except torch.OutOfMemoryError:
                self._put_back(batch)
                self._size.halve(samples)
                continue
            except torch.AcceleratorError as error:
                raise WorldError("gpu_failed", detail=str(error).splitlines()[0]) from error
            seconds = time.perf_counter() - begin
            self._size.record(samples, seconds)
            return Microbatch(samples, loss, seconds, self._flops_per_sample)

    def _gradients(self, batch: Batch) -> float:
        if self._flops_per_sample is not None:
            return self._compute(batch)
        with counting() as counted:
            loss = self._compute(batch)
        self._flops_per_sample = counted() / _rows(batch)
        log.info("start: first samples computed")
        return loss

    def _compute(self, batch: Batch) -> float:
        loss = self._task.loss(self._model, {name: value.to(self._device) for name, value in batch.items()})
        loss.backward()
        # Waits for the GPU, so that the measured time includes its work.
        return loss.item()

    def _take(self, size: int) -> Batch:
        batch = self._rest if _rows(self._rest) else next(self._batches)
        self._rest = {name: value[size:] for name, value in batch.items()}
        return {name: value[:size] for name, value in batch.items()}

    def _put_back(self, batch: Batch) -> None:
        """After a failure, discard partial gradients and free memory."""
        self._rest = {name: torch.cat((value, self._rest[name])) for name, value in batch.items()}
        self._model.zero_grad()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()


def _rows(batch: Batch) -> int:
    return next((len(value) for value in batch.values()), 0)

"""One microbatch after the other, as large as the project declares, or smaller where memory or latency require it."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError
from core.learning.flops import counting
from core.learning.layers import check_at_layers
from core.learning.order import Order, Piece, Samples, loss_of
from core.learning.tasks.task import Batch

log = logging.getLogger(__name__)

_NEWEST_COUNTS = 0.3
"""Weight of the last microbatch in the smoothed time per sample."""
_SURELY = 1.25
"""How many times as many samples have to fit until there are more."""


class Stopped(Exception):
    """A command asks to stop computing; a microbatch was given up in the middle."""


@dataclass(frozen=True)
class Microbatch:
    piece: Piece
    loss: float
    seconds: float
    flops_per_sample: float | None = None
    """Of forward and backward pass; None if it could not be counted."""

    @property
    def samples(self) -> int:
        return self.piece.count


class Size:
    """Chooses the number of samples of the next microbatch."""

    def __init__(self, largest: int, least: int = 1) -> None:
        """`largest` is the project's size, `least` the task's, unless the project's is smaller."""
        self._largest, self._least = largest, min(least, largest)
        self._per_sample: float | None = None
        self._chosen = self._least

    def next(self, latency_target: int) -> int:
        """`latency_target` is in milliseconds; 0: none."""
        if not latency_target:
            return self._largest
        if self._per_sample is None:
            return self._least
        fitting = latency_target / 1000 / self._per_sample
        if not self._chosen <= fitting < max(self._chosen + 1, self._chosen * _SURELY):
            # Not with every small change: what is said of equal pieces is short.
            self._chosen = int(fitting)
        return max(self._least, min(self._largest, self._chosen))

    def record(self, samples: int, seconds: float) -> None:
        newest = seconds / samples
        before = self._per_sample or newest
        self._per_sample = before + (newest - before) * _NEWEST_COUNTS

    def halve(self, samples: int) -> None:
        """Halve the size, because memory was too small for `samples`.

        Raises:
            WorldError: memory is too small even for the least samples.
        """
        if samples < 2 * self._least:
            raise WorldError("gpu_memory_full")
        self._largest = samples // 2


class Microbatches:
    """Computes gradients into the model's parameters. `is_unwanted` says whether a command asks to stop computing,
    `portion` gives that of the data in an epoch.
    """

    def __init__(
        self,
        order: Order,
        model: PreTrainedModel,
        device: torch.device,
        is_unwanted: Callable[[], bool] = lambda: False,
        portion: Callable[[int], int] = lambda _epoch: 0,
    ) -> None:
        self._order, self._model, self._device = order, model, device
        check_at_layers(model, partial(_stop_if, is_unwanted))
        self._samples, self._size = Samples(order, portion, ahead=True), Size(order.size, order.task.least_samples)
        self._flops_per_sample: float | None = None
        """Counted in the first microbatch only: all samples have the same length."""

    def compute(self, epoch: int, latency_target: int) -> Microbatch:
        """Forward and backward pass over the next samples of the epoch, whose parameters the model has.

        Raises:
            WorldError: the GPU fails, or has too little memory.
            Stopped: the samples are computed next time.
        """
        while True:
            piece, batch = self._samples.take(epoch, self._size.next(latency_target))
            begin = time.perf_counter()
            try:
                loss = self._gradients(piece, batch)
            except torch.OutOfMemoryError:
                self._put_back(batch)
                self._size.halve(piece.count)
                continue
            except Stopped:
                self._put_back(batch)
                raise
            except torch.AcceleratorError as error:
                raise WorldError("gpu_failed", detail=str(error).splitlines()[0]) from error
            seconds = time.perf_counter() - begin
            self._size.record(piece.count, seconds)
            return Microbatch(piece, loss, seconds, self._flops_per_sample)

    def _gradients(self, piece: Piece, batch: Batch) -> float:
        if self._flops_per_sample is not None:
            return self._compute(piece, batch)
        with counting() as counted:
            loss = self._compute(piece, batch)
        self._flops_per_sample = counted() / piece.count
        log.info("start: first samples computed")
        return loss

    def _compute(self, piece: Piece, batch: Batch) -> float:
        loss = loss_of(self._order, self._model, piece, {name: value.to(self._device) for name, value in batch.items()})
        loss.backward()
        # Waits for the GPU, so that the measured time includes its work.
        return loss.item()

    def _put_back(self, batch: Batch) -> None:
        """After a failure, discard partial gradients and free memory."""
        self._samples.put_back(batch)
        self._model.zero_grad()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()


def _stop_if(is_unwanted: Callable[[], bool]) -> None:
    if is_unwanted():
        raise Stopped

"""One microbatch after the other, as large as the project declares, or smaller where memory or latency require it."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError
from core.learning.flops import counting
from core.learning.gradient_checkpointing import enable_checkpointing
from core.learning.layers import LayerChecks
from core.learning.order import Order, Piece, Samples, loss_of
from core.learning.peak_memory import PeakMemory
from core.learning.precision import MixedPrecision
from core.learning.tasks.task import Batch
from core.trainer.machine.memory_guard import Room
from core.trainer.microbatch_size import Size

log = logging.getLogger(__name__)

_LATER = 1.3
"""What later passes take, as a multiple of the one that is measured: memory that is freed leaves gaps."""
_CHECKED_EVERY = 0.004
"""Seconds of a forward pass between two looks whether to go on; of a backward pass, which takes twice as long, two."""


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


class _Overflow(Exception):
    """Gradients are too large for float16 as they were scaled."""


class Microbatches:
    """Computes gradients into the model's parameters.

    Parameters:
        is_unwanted: whether a command asks to stop computing.
        portion: of the data in an epoch.
        batches: see `Samples`.
        half_precision: type of the matrix products; None: float32.
        room: memory that may be used; None: until an allocation fails.
    """

    def __init__(
        self,
        order: Order,
        model: PreTrainedModel,
        device: torch.device,
        is_unwanted: Callable[[], bool] = lambda: False,
        portion: Callable[[int], int] = lambda _epoch: 0,
        *,
        batches: Callable[[int, int], Iterator[Batch]] | None = None,
        half_precision: torch.dtype | None = None,
        room: Room | None = None,
    ) -> None:
        self._order, self._model, self._device, self._room = order, model, device, room
        self._checks, self._thinned_for = LayerChecks(model, partial(stop_if, is_unwanted)), 0
        self._samples = Samples(order, portion, batches)
        self._size = Size(order.size, order.task.least_samples, has_limit=room is not None)
        self._is_half = half_precision is not None
        self._precision = MixedPrecision(model.parameters(), device, half_precision)
        self._flops_per_sample: float | None = None
        """Counted in the first microbatch only: all samples have the same length."""

    @property
    def largest(self) -> int:
        """Samples that fit into the memory at once in float32, in which those of others are computed again."""
        return self._size.most_of_twice if self._is_half else self._size.most

    def find_size(self) -> None:
        """Find again how many samples fit: the limit has changed."""
        self._size.find()

    def compute(self, epoch: int, latency_target: int) -> Microbatch:
        """Forward and backward pass over the next samples of the epoch, whose parameters the model has.

        Raises:
            WorldError: the GPU fails, or has too little memory.
            UsageError: the volunteer allows too little memory.
            Stopped: the samples are computed next time.
        """
        while True:
            piece, batch = self._samples.take(epoch, self._size.next(latency_target))
            begin = time.perf_counter()
            try:
                loss = self._gradients(piece, batch)
            except torch.OutOfMemoryError:
                self._put_back(batch)
                if not self._size.halve(piece.count) and not self._keep_less():
                    raise WorldError("gpu_memory_full") from None
                continue
            except _Overflow:
                self._put_back(batch)
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
        if self._flops_per_sample is not None and not self._size.is_unknown(piece.count):
            return self._compute_checked(piece, batch)
        with counting() as counted, PeakMemory() as memory:
            loss = self._compute(piece, batch)
        if self._flops_per_sample is None:
            log.info("start: first samples computed")
        self._flops_per_sample = counted() / piece.count
        if self._room is not None:
            taken = int(_LATER * memory.peak)
            if not self._size.fit(piece.count, taken, self._room.bytes()) and not self._keep_less():
                raise self._room.exceeded_by(taken)
        return loss

    def _compute_checked(self, piece: Piece, batch: Batch) -> float:
        if piece.count <= self._thinned_for:
            return self._compute(piece, batch)
        with self._checks.thin(_CHECKED_EVERY):
            loss = self._compute(piece, batch)
        self._thinned_for = piece.count
        return loss

    def _compute(self, piece: Piece, batch: Batch) -> float:
        on_device = {name: value.to(self._device) for name, value in batch.items()}
        with self._precision.forward():
            loss = loss_of(self._order, self._model, piece, on_device)
        if not self._precision.backward(loss):
            raise _Overflow
        # Waits for the GPU, so that the measured time includes its work.
        return loss.item()

    def _keep_less(self) -> bool:
        """Keep less of a pass, and find the size again. False if the model can do with no less."""
        try:
            enable_checkpointing(self._model)
        except ValueError:
            return False
        log.info("too little memory for %d samples: gradient checkpointing begins", self._size.most)
        self._flops_per_sample = None
        self._size.find()
        return True

    def _put_back(self, batch: Batch) -> None:
        """After a failure, discard partial gradients and free memory."""
        self._samples.put_back(batch)
        self._model.zero_grad()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()


def stop_if(is_unwanted: Callable[[], bool]) -> None:
    if is_unwanted():
        raise Stopped

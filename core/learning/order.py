"""Which samples a peer computes, in which order and with which random choices.

All of it follows from the names of run and peer, from the epoch and from the portion of the data, so anybody can
compute a peer's gradients again.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import groupby
from typing import Annotated, Any

import msgspec
import torch
from msgspec import Meta

from core.learning.dropout import ReproducibleDropout, has_dropout
from core.learning.tasks.task import Batch, Task

_PURPOSE = b"idlehive order 2\n"


class BadWork(Exception):
    """Nobody can have computed this."""


class Piece(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Samples that were computed at once."""

    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    """Of the parameters, and of the order."""
    first: Annotated[int, Meta(ge=0, le=1 << 32)]
    """Samples before it in this epoch."""
    count: Annotated[int, Meta(ge=1, le=1 << 32)]
    portion: Annotated[int, Meta(ge=0, le=1 << 32)] = 0
    """Of the data, that they are from."""


@dataclass(frozen=True)
class Order:
    """Of one peer in one run.

    Parameters:
        samples: the endless stream of samples that a seed gives, of a portion of the data.
        size: samples of a microbatch, as the project declares it.
        peer: its id.
    """

    task: Task
    samples: Callable[[int, int], Iterable[Any]]
    size: int
    run_id: str
    peer: bytes

    def batches(self, epoch: int, portion: int) -> Iterator[Batch]:
        """Those of an epoch, from its first sample on."""
        seed = self.seed(epoch)
        return self.task.batches(self.samples(seed, portion), self.size, seed)

    def seed(self, epoch: int, place: int = 0) -> int:
        """Of an epoch's order; and, from 1 on, of random choices at a place in it."""
        digest = hashlib.sha256(_PURPOSE + self.run_id.encode() + b"\n" + self.peer)
        digest.update(epoch.to_bytes(8, "big") + place.to_bytes(8, "big"))
        return int.from_bytes(digest.digest()[:7], "big")


@dataclass
class Samples:
    """Takes the samples of an order one after the other, and begins again with each epoch.

    Parameters:
        portion: of the data, in an epoch.
        batches: makes those of an epoch and a portion; None: the order itself, each when it is wanted.
    """

    order: Order
    portion: Callable[[int], int] = lambda _epoch: 0
    batches: Callable[[int, int], Iterator[Batch]] | None = None
    _portion: int = 0
    _epoch: int = -1
    _taken: int = 0
    _rest: Batch = field(default_factory=dict)
    _batches: Iterator[Batch] = field(default_factory=lambda: iter(()))

    def take(self, epoch: int, most: int) -> tuple[Piece, Batch]:
        """The next samples of the epoch: no more than `most`, and of one batch of the order.

        It is the rest of the batch if less than the task's least would remain.
        """
        if epoch != self._epoch:
            self._begin(epoch)
        batch = self._rest if rows(self._rest) else next(self._batches)
        if rows(batch) - most < self.order.task.least_samples:
            most = rows(batch)
        is_all = most >= rows(batch)
        self._rest = {} if is_all else {name: value[most:] for name, value in batch.items()}
        taken = batch if is_all else {name: value[:most] for name, value in batch.items()}
        piece = Piece(epoch, self._taken, rows(taken), self._portion)
        self._taken += piece.count
        return piece, taken

    def _begin(self, epoch: int) -> None:
        self._epoch, self._taken, self._rest, self._portion = epoch, 0, {}, self.portion(epoch)
        self._batches = (self.batches or self.order.batches)(epoch, self._portion)

    def put_back(self, batch: Batch) -> None:
        """What was taken last is taken again next."""
        rest = self._rest
        self._rest = {name: torch.cat((value, rest[name])) if rest else value for name, value in batch.items()}
        self._taken -= rows(batch)


def loss_of(order: Order, model: torch.nn.Module, piece: Piece, batch: Batch) -> torch.Tensor:
    """The mean loss of a piece. Dropout is that of the piece, on any kind of device."""
    _seed(order.seed(piece.epoch, piece.first + 1))
    # torch asks it at every operation.
    with ReproducibleDropout() if has_dropout(model) else nullcontext():
        return order.task.loss(model, batch, piece.epoch)


def _seed(seed: int) -> None:
    """As `torch.manual_seed`, which without a card keeps the seed for one, with a text of the whole stack each time."""
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(seed)


class Recomputation:
    """Computes the mean gradient of a peer's pieces, one after the other.

    Parameters:
        prepare: gives the model the parameters of an epoch; called before each piece.
    """

    def __init__(
        self, order: Order, model: torch.nn.Module, pieces: Sequence[Piece], prepare: Callable[[int], None]
    ) -> None:
        self._order, self._model, self._pieces, self._prepare = order, model, _found(order, pieces), prepare
        self._parameters = list(model.parameters())
        self._total = torch.zeros(sum(parameter.numel() for parameter in self._parameters))
        self._samples = sum(piece.count for piece in pieces)

    def step(self) -> bool:
        """Compute the next piece, or pass over a batch before it; False if there is none.

        Raises:
            BadWork: the order has no such piece.
        """
        try:
            found = next(self._pieces)
        except StopIteration:
            return False
        if found is None:
            return True
        piece, batch = found
        self._prepare(piece.epoch)
        device = self._parameters[0].device
        self._model.zero_grad()
        loss_of(self._order, self._model, piece, {name: value.to(device) for name, value in batch.items()}).backward()
        self._total += piece.count * torch.cat([_gradient(parameter) for parameter in self._parameters])
        self._model.zero_grad()
        return True

    @property
    def vector(self) -> torch.Tensor:
        """In the order of the parameters, once there is no further piece."""
        return self._total / max(1, self._samples)


def compute_again(
    order: Order, model: torch.nn.Module, pieces: Sequence[Piece], prepare: Callable[[int], None]
) -> torch.Tensor:
    """All of a `Recomputation`."""
    recomputation = Recomputation(order, model, pieces, prepare)
    while recomputation.step():
        pass
    return recomputation.vector


def _found(order: Order, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Batch] | None]:
    """None for each batch before a piece: a peer can say that many are."""
    for (epoch, portion), of_epoch in groupby(pieces, key=lambda piece: (piece.epoch, piece.portion)):
        samples, at = Samples(order, lambda _epoch, portion=portion: portion), 0  # type: ignore[misc]  # a default
        for piece in of_epoch:
            if piece.first < at:
                raise BadWork("samples_twice")
            while at < piece.first:
                at += samples.take(epoch, piece.first - at)[0].count
                yield None
            found, batch = samples.take(epoch, piece.count)
            at += found.count
            if found != piece:
                raise BadWork("pieces_across_batches")
            yield piece, batch


def _gradient(parameter: torch.Tensor) -> torch.Tensor:
    gradient = parameter.grad
    return torch.zeros(parameter.numel()) if gradient is None else gradient.detach().flatten().float().cpu()


def rows(batch: Batch) -> int:
    """Samples of a batch."""
    return next((len(value) for value in batch.values()), 0)

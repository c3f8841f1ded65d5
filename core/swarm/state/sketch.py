"""A state in a few numbers a tensor, by which a peer sees whether another one's is the same but for rounding. Pure.

Peers compute on different hardware, or in several groups, so their states may differ in the last digits and have no
common hash. Instead, the signs of each tensor's numbers are changed at random, and the numbers summed in `_SUMS` heaps:
the distance between the sums of two tensors is that between the tensors, give or take a fifth. Who knows the signs can
make any tensor with the same sums. So a seed is drawn only when a sketch is asked for, and that only when the donor has
announced the hash of what it sends.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import torch
from msgspec import Meta

_SUMS = 16
_BLOCK = 1 << 20
"""Numbers that are summed at a time; a multiple of `_SUMS`."""


@dataclass(frozen=True)
class Tolerance:
    """How far tensors of the same state may be apart, as a share of their norm; measured in docs/measurements.md."""

    parameters: float
    others: float
    """Of the optimizer's tensors, and of gradients."""
    noise: float
    """Added to it, as a share of what the norm would be if all numbers of a kind were of the same size: gradients that
    are nothing but rounding (an attention's key bias has no other) differ wholly between peers."""


FINE = Tolerance(0.03, 0.3, 1e-4)
"""Where all peers average together. Gradients may be so small that 16 bits leave few digits of them."""
COARSE = Tolerance(0.3, 2.0, 2.0)
"""Where they form several groups, the optimizer's tensors are alike in size only."""


class Sketch(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Of one peer's state of an epoch."""

    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    seed: Annotated[bytes, Meta(min_length=16, max_length=16)]
    rows: Annotated[bytes, Meta(max_length=1 << 21)]
    """float64: for each tensor its norm and its sums."""


def sketch_of(epoch: int, tensors: Sequence[torch.Tensor], seed: bytes) -> Sketch:
    return Sketch(epoch, seed, _rows(tensors, seed).tobytes())


def sketch_in(data: bytes) -> Sketch | None:
    """A sketch as a stranger sends it; None if it is malformed."""
    try:
        return msgspec.msgpack.decode(data, type=Sketch)
    except msgspec.MsgspecError:
        return None


def is_same(sketch: Sketch, tensors: Sequence[torch.Tensor], parameters: int, tolerance: Tolerance) -> bool:
    """Whether `tensors` are those of the sketch within the tolerance; the first of them are so many parameters."""
    width = 1 + _SUMS
    if len(sketch.rows) != 8 * width * len(tensors):
        return False
    theirs = np.frombuffer(sketch.rows).reshape(-1, width)
    if not np.isfinite(theirs).all():
        return False
    norms = theirs[:, 0]
    distances = np.linalg.norm(_rows(tensors, sketch.seed)[:, 1:] - theirs[:, 1:], axis=1)
    shares = np.where(np.arange(len(tensors)) < parameters, tolerance.parameters, tolerance.others)
    noise = np.minimum(shares, tolerance.noise) * _usual_norms(norms, tensors, parameters)
    return bool((distances <= shares * norms + noise).all())


def _usual_norms(norms: np.ndarray, tensors: Sequence[torch.Tensor], parameters: int) -> np.ndarray:
    """Those that the tensors would have if all numbers of a kind were of the same size.

    After the parameters come the optimizer's tensors: as many for each parameter, always in the same order.
    """
    each = max(1, (len(tensors) - parameters) // parameters) if parameters else 1
    kinds = np.array([0 if number < parameters else 1 + (number - parameters) % each for number in range(len(tensors))])
    sizes = np.array([float(tensor.numel()) for tensor in tensors])
    mean_squares = np.bincount(kinds, norms**2) / np.maximum(1.0, np.bincount(kinds, sizes))
    usual: np.ndarray = np.sqrt(mean_squares[kinds] * sizes)
    return usual


def _rows(tensors: Sequence[torch.Tensor], seed: bytes) -> np.ndarray:
    return np.array([_row(tensor, seed, number) for number, tensor in enumerate(tensors)])


def _row(tensor: torch.Tensor, seed: bytes, number: int) -> list[float]:
    values = tensor.detach().cpu().flatten()
    sums = torch.zeros(_SUMS, dtype=torch.float64)
    square = 0.0
    for place, block in enumerate(values.split(_BLOCK)):
        signs = _signs(seed + number.to_bytes(4, "big") + place.to_bytes(4, "big"), len(block))
        numbers = block.double()
        square += float(numbers @ numbers)
        signed = torch.zeros(-(-len(block) // _SUMS) * _SUMS, dtype=torch.float64)
        signed[: len(block)] = torch.where(signs, numbers, -numbers)
        sums += signed.view(-1, _SUMS).sum(0)
    return [square**0.5, *sums.tolist()]


def _signs(seed: bytes, count: int) -> torch.Tensor:
    drawn = np.frombuffer(hashlib.shake_128(seed).digest(-(-count // 8)), np.uint8)
    return torch.from_numpy(np.unpackbits(drawn)[:count]).bool()

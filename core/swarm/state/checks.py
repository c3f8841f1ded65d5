"""What a state of the run must be like before it is used, wherever it comes from. Pure.

A state is a row of tensors (parameters, then the optimizer's) and small metadata: `epoch`, `digest`, and in
`optimizer_metadata` the optimizer's state without its tensors, flattened as hivemind does.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hivemind.utils import nested_pack

from core.swarm.errors import BadState

State = tuple[dict[str, Any], list[torch.Tensor]]
"""hivemind's form."""

_AHEAD = 16
"""Epochs that a run may get on between news of it and the arrival of a state."""
_RATE_TOLERANCE = 1e-6
"""Of the learning rate, relative: the same arithmetic on another machine."""


TensorLayout = tuple[tuple[tuple[int, ...], torch.dtype], ...]
"""Shapes and types."""


def layout_of(tensors: Iterable[torch.Tensor]) -> TensorLayout:
    return tuple((tuple(tensor.shape), tensor.dtype) for tensor in tensors)


@dataclass(frozen=True)
class Layout:
    """Shapes and types of the tensors, and the optimizer's numbers, as this peer has them."""

    tensors: TensorLayout
    parameters: int
    """How many of them are no optimizer's."""
    numbers: tuple[Mapping[str, Any], ...]
    structure: Any
    """The optimizer's `state_dict`, into which `numbers` fold back."""
    rates: Callable[[int], list[float]]
    """The learning rate of each parameter group at an epoch, by the manifest's schedule."""

    @property
    def size(self) -> int:
        """Bytes of all tensors."""
        return sum(bytes_of(shape, kind) for shape, kind in self.tensors)


def bytes_of(shape: tuple[int, ...], kind: torch.dtype) -> int:
    return math.prod(shape) * kind.itemsize


def digest_of(tensors: Iterable[torch.Tensor]) -> str:
    """BLAKE2b (128 bits) over the tensors' bytes, in order."""
    made = hashlib.blake2b(digest_size=16)
    for tensor in tensors:
        made.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    return made.hexdigest()


def check_epoch(epoch: object, oldest: int, newest: int) -> int:
    """The epoch of a state, plausible between `oldest` and `newest`.

    Raises:
        BadState: it is not.
    """
    if not isinstance(epoch, int) or isinstance(epoch, bool):
        raise BadState("state_without_epoch")
    if epoch < oldest:
        raise BadState("state_too_old", epoch=epoch, oldest=oldest)
    if epoch > newest:
        raise BadState("state_too_new", epoch=epoch, newest=newest)
    return epoch


def newest_plausible(known: int) -> int:
    """The highest epoch that a state can be of, when the run was known to be at `known`."""
    return known + _AHEAD


def check_tensors(tensors: Sequence[torch.Tensor], expected: TensorLayout) -> None:
    """Shapes, types, and numbers that are finite.

    Raises:
        BadState: something is otherwise.
    """
    if layout_of(tensors) != expected:
        raise BadState("state_of_other_model")
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors if tensor.is_floating_point()):
        raise BadState("state_not_finite")


def check_digest(announced: object, tensors: Sequence[torch.Tensor]) -> None:
    """Raises:
    BadState: the tensors are not those that were announced.
    """
    if announced != digest_of(tensors):
        raise BadState("state_not_as_announced")


def check_numbers(numbers: object, epoch: int, layout: Layout) -> None:
    """The optimizer's numbers: those of this peer, but for the learning rate and the count of steps.

    Raises:
        BadState: one is otherwise, or the learning rate is not that of `epoch`.
    """
    mine, theirs = _folded(layout.numbers, layout), _folded(numbers, layout)
    if mine["state"] != theirs["state"]:
        raise BadState("state_of_other_optimizer")
    for own, other, rate in zip(mine["param_groups"], theirs["param_groups"], layout.rates(epoch), strict=True):
        given, steps = other.pop("lr", None), other.pop("step", 0)
        if not isinstance(given, float) or not math.isclose(given, rate, rel_tol=_RATE_TOLERANCE, abs_tol=1e-12):
            raise BadState("learning_rate_wrong", given=str(given), expected=rate)
        if not isinstance(steps, int) or not 0 <= steps <= epoch + 1:
            raise BadState("step_count_wrong", given=str(steps), epoch=epoch)
        if {name: value for name, value in own.items() if name not in ("lr", "step")} != other:
            raise BadState("optimizer_settings_differ")


def _folded(numbers: object, layout: Layout) -> Any:
    if not isinstance(numbers, list | tuple) or len(numbers) != len(layout.numbers):
        raise BadState("state_of_other_optimizer")
    return nested_pack([_leaf(entry) for entry in numbers], structure=layout.structure)


def _leaf(entry: object) -> Any:
    match entry:
        case {"type": "tensor", "index": int(index)}:
            return ("tensor", index)
        case {"type": "value", "value": value}:
            return value
    raise BadState("state_of_other_optimizer")


def is_still_present(copy: int, reported: int | None, offered: int | None) -> bool:
    """Whether a local copy of epoch `copy` is the run's present state.

    `reported` is the epoch that other peers work on, None if nobody does; `offered` the highest that somebody gives
    away. With peers at work only their very epoch will do: one behind is stale, although it is what they had a moment
    ago, and one ahead would make them follow this peer. With nobody at work a copy as new as any other is.
    """
    return copy == reported if reported is not None else copy >= (offered or 0)

"""Checks of what members of a round send each other: every part is looked at before it is added to anything."""

import math
from collections.abc import Callable
from typing import Any

import torch
from hivemind.averaging.partition import AllreduceException, TensorPartContainer, TensorPartReducer
from hivemind.p2p import P2PDaemonError, P2PHandlerError

from core.swarm.trust.distrust import Offence

LARGEST = float(1 << 48)
"""Of a value that is averaged. Far beyond every gradient, and so small that no sum, weighted sum or square of such
values overflows: what an honest member makes of them is finite, so who sends other values is at fault itself."""
_LARGEST_AVERAGE = 4 * LARGEST
"""Some send differences between averages and parts."""
_SMALLEST_WEIGHT = 1e-3
"""But for zero. Sums of smaller ones would be rounded to zero."""
LINE_ERRORS = (AllreduceException, TimeoutError, OSError, EOFError, P2PDaemonError, P2PHandlerError, StopAsyncIteration)
"""What happens to a stream whose other end does nothing wrong; everything else comes from what it sent."""


class BrokenPart(AllreduceException):
    """What a member sent cannot be averaged."""

    def __init__(self, offence: Offence) -> None:
        super().__init__(offence)
        self.offence = offence


def fault_in(part: torch.Tensor, shape: torch.Size, largest: float = LARGEST) -> Offence | None:
    """Why a part cannot be averaged; None if it can. Reads it once."""
    if part.shape != shape or not part.is_floating_point() or part.requires_grad:
        return "part_malformed"
    if not part.numel():
        return None
    # Both are NaN if one value is.
    lowest, highest = part.aminmax()
    return None if -largest <= float(lowest) and float(highest) <= largest else "values_out_of_range"


class CheckedReducer(TensorPartReducer):
    """Adds a part only after it was checked, with a weight that counts."""

    own_index: int | None
    """Of this peer among the senders: its own parts are checked before the round."""
    most_weight: Callable[[int], float]
    """By index of the sender."""
    has_samples = False
    """Whether anything was added that has a weight."""

    async def accumulate_part(
        self, sender_index: int, part_index: int, tensor_part: torch.Tensor, weight: float = 1.0
    ) -> torch.Tensor:
        if sender_index != self.own_index:
            weight = self._checked(sender_index, part_index, tensor_part, weight)
        self.has_samples |= weight > 0
        average: torch.Tensor = await super().accumulate_part(sender_index, part_index, tensor_part, weight)
        return average

    def _checked(self, sender_index: int, part_index: int, part: torch.Tensor, weight: float) -> float:
        if part_index >= self.num_parts:
            raise BrokenPart("parts_too_many")
        if fault := fault_in(part, self.part_shapes[part_index]):
            raise BrokenPart(fault)
        if not (weight == 0 or _SMALLEST_WEIGHT <= weight < math.inf):
            raise BrokenPart("weight_invalid")
        return min(weight, self.most_weight(sender_index))


class _Average(torch.Tensor):
    """What the reducer hands out: minus the peer's own part it is still the average."""

    def __sub__(self, _brought: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.as_subclass(torch.Tensor)


class CheckedAverages(CheckedReducer):
    """Hands out averages in place of differences."""

    async def accumulate_part(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        average = await super().accumulate_part(*args, **kwargs)
        return average.as_subclass(_Average)


class CheckedParts(TensorPartContainer):
    """Looks at each average when it comes: at the end of a round all members would wait for it.

    An average that is broken is replaced until the round ends, which then fails for this peer: others may have got good
    ones and still need its parts. With its own values in place of the average it would go on from another state than
    they do.
    """

    is_sound = True
    on_fault: Callable[[int, Offence], None]
    """Called with the index of the reducer."""

    def register_processed_part(self, peer_index: int, part_index: int, part: torch.Tensor) -> None:
        own = self._input_parts_by_peer[peer_index][part_index][0]
        if fault := fault_in(part, own.shape, _LARGEST_AVERAGE):
            self.is_sound, part = False, torch.zeros_like(own)
            self.on_fault(peer_index, fault)
        super().register_processed_part(peer_index, part_index, part)

    def is_fit_to_send(self) -> bool:
        """Whether this peer's own values can be averaged."""
        return all(fault_in(tensor.detach(), tensor.shape) is None for tensor in self.local_tensors)

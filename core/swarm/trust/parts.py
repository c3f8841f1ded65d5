"""Checks of what members of a round send each other: every part is looked at before it is added to anything."""

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator, Callable, Sequence
from functools import reduce
from itertools import islice
from typing import Any, Protocol

import torch
from hivemind.averaging.partition import AllreduceException, TensorPartContainer, TensorPartReducer
from hivemind.compression import CompressionBase, CompressionInfo, NoCompression, deserialize_torch_tensor
from hivemind.p2p import PeerID
from hivemind.proto import runtime_pb2

from core.swarm.trust.centered_clip import CollectedParts
from core.swarm.trust.distrust import Offence

LARGEST = float(1 << 48)
"""Of a value that is averaged. Far beyond every gradient, and so small that no sum, weighted sum or square of such
values overflows: what an honest member makes of them is finite, so who sends other values is at fault itself."""
_LARGEST_AVERAGE = 4 * LARGEST
"""Some send differences between averages and parts."""
_SMALLEST_WEIGHT = 1e-3
"""But for zero. Sums of smaller ones would be rounded to zero."""

DIGEST_SIZE = 16
"""Bytes: a reducer that looks for two averages with the same digest finds none while a round lasts."""

_NOTHING = torch.empty(0)


class Record(Protocol):
    """Keeps what an audit of the round needs. Members are meant by their number in the group."""

    def keep_brought(self, reducer: int, number: int, part: torch.Tensor) -> None: ...

    def keep_average(self, reducer: int, number: int, average: torch.Tensor) -> None: ...

    def keep_part(self, sender: int, number: int, part: torch.Tensor, weight: float) -> None: ...


def decoded(part: runtime_pb2.Tensor) -> torch.Tensor:
    """The part as hivemind decodes it; one that cannot be decoded is empty, and so has no part's shape."""
    try:
        tensor: torch.Tensor = deserialize_torch_tensor(part)
    except Exception:  # noqa: BLE001 - sizes, types, codecs: each fails in its own way
        return torch.empty(0)
    return tensor


def fault_in(part: torch.Tensor, shape: torch.Size, largest: float = LARGEST) -> Offence | None:
    """Why a part cannot be averaged; None if it can. Reads it once."""
    if part.shape != shape or not part.is_floating_point() or part.requires_grad:
        return "part_malformed"
    if not part.numel():
        return None
    # Both are NaN if one value is.
    lowest, highest = part.aminmax()
    return None if -largest <= float(lowest) and float(highest) <= largest else "values_out_of_range"


def _rounded(average: torch.Tensor, codec: CompressionBase) -> torch.Tensor:
    rounded: torch.Tensor = codec.extract(codec.compress(average, CompressionInfo.from_tensor(average)))
    return rounded


class _Average(torch.Tensor):
    """What the reducer hands out in place of a difference: minus what a peer brought it is still the average."""

    def __sub__(self, _brought: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.as_subclass(torch.Tensor)


class Watched:
    """What one member sends to this one in a round, in 16 bits a number."""

    def __init__(self, peer: PeerID) -> None:
        self.peer, self.weight = peer, 0.0
        self._parts: dict[int, torch.Tensor] = {}

    def add(self, part_index: int, part: torch.Tensor, weight: float) -> None:
        self.weight = weight
        self._parts[part_index] = part.to(torch.bfloat16, copy=True)

    def in_order(self) -> list[torch.Tensor]:
        """Its parts."""
        return [self._parts[index] for index in sorted(self._parts)]


class CheckedReducer(TensorPartReducer):
    """Adds a part only after it was checked, with a weight that counts.

    Who sends a broken part is dropped: nothing of it counts any more in this round. It still gets the averages, since
    without them an honest program would leave the round, and with it the part that it reduces for all.
    """

    hands_out_averages = False
    """Or else differences."""
    codec: CompressionBase | None = None
    """That rounds the average for the others, and so for this peer."""
    accumulator: Any
    """hivemind's sum, or what takes its place."""
    is_robust = False
    """Whether a part becomes the centre of what members send, and not their mean."""
    own_index: int | None
    """Of this peer among the senders: its own parts are checked before the round."""
    most_weight: Callable[[int], float]
    """By index of the sender."""
    on_fault: Callable[[int, Offence], None]
    """Called with the index of the sender."""
    dropped: set[int]
    on_nothing: Callable[[], None]
    """Called when those who have samples are all dropped: the members are to get no average then, rather than one that
    is not finite, and is blamed on this peer."""
    on_part: Callable[[int, int, torch.Tensor, float], None] | None = None
    """Called with the index of the sender, the number of a part, and what it counts."""
    watched: tuple[int, Watched] | None = None
    """By index of the sender."""
    has_samples = False
    """Whether anything was added that has a weight."""
    _weights: dict[int, float] | None = None
    """By index of the sender."""

    async def accumulate_part(
        self, sender_index: int, part_index: int, tensor_part: torch.Tensor, weight: float = 1.0
    ) -> torch.Tensor:
        sent_weight, fault = weight, None
        if sender_index != self.own_index:
            if fault := self._fault_in(sender_index, part_index, tensor_part, weight):
                self.drop(sender_index, fault)
            weight = min(weight, self.most_weight(sender_index))
        if part_index >= self.num_parts:
            raise AllreduceException("there are no more parts")
        if is_dropped := sender_index in self.dropped:
            tensor_part, weight = torch.zeros(self.part_shapes[part_index]), 0.0
        elif self.watched is not None and self.watched[0] == sender_index:
            self.watched[1].add(part_index, tensor_part, sent_weight)
        if self.on_part is not None and not is_dropped:
            self.on_part(sender_index, part_index, tensor_part, weight)
        self.has_samples |= weight > 0
        average: torch.Tensor = await super().accumulate_part(sender_index, part_index, tensor_part, weight)
        if sender_index == self.own_index and self.codec is not None:
            average = await asyncio.to_thread(_rounded, average, self.codec)
        # What has a fault may not be subtracted from. Others that do not count get what completes their own part.
        return average.as_subclass(_Average) if fault or self.hands_out_averages else average

    def check_current_part_finished(self) -> None:
        """See hivemind."""
        is_complete = self.current_part_accumulated_from == self.num_current_senders
        if is_complete and self.dropped and self.denominator == 0:
            self.on_nothing()
        else:
            super().check_current_part_finished()

    def make_robust(self) -> None:
        """Before the first part comes."""
        self.is_robust = True
        self._collect()

    def reset_accumulators(self) -> None:
        super().reset_accumulators()
        self._collect()

    def _collect(self) -> None:
        if self.is_robust and not self.finished.is_set():
            self.accumulator = CollectedParts(self.accumulator)

    def drop(self, sender_index: int, fault: Offence) -> None:
        """Count nothing of this sender any more."""
        if sender_index not in self.dropped:
            self.dropped.add(sender_index)
            self.on_fault(sender_index, fault)

    def _weight_of(self, sender_index: int, weight: float) -> float:
        """That of its first part: a validator looks at one of them."""
        if self._weights is None:
            self._weights = {}
        return self._weights.setdefault(sender_index, weight)

    def _fault_in(self, sender_index: int, part_index: int, part: torch.Tensor, weight: float) -> Offence | None:
        if part_index >= self.num_parts:
            return "parts_too_many"
        if not (weight == 0 or _SMALLEST_WEIGHT <= weight < math.inf) or weight != self._weight_of(
            sender_index, weight
        ):
            return "weight_invalid"
        return fault_in(part, self.part_shapes[part_index])


class CheckedParts(TensorPartContainer):
    """Looks at each average that comes, and puts it in its place: at the end of a round all members would wait for it.

    An average that is broken is replaced until the round ends, which then fails for this peer: others may have got good
    ones and still need its parts. With its own values in place of the average it would go on from another state than
    they do.
    """

    is_sound = True
    on_fault: Callable[[int, Offence], None]
    """Called with the index of the reducer."""
    record: Record | None = None
    _digests: "Sequence[hashlib._Hash]" = ()
    _result: torch.Tensor | None = None
    """All tensors one after the other. hivemind keeps parts, and puts them together when the last one has come."""

    def register_processed_part(self, peer_index: int, part_index: int, part: torch.Tensor) -> None:
        own = self._input_parts_by_peer[peer_index][part_index][0]
        if fault := fault_in(part, own.shape, _LARGEST_AVERAGE):
            self.is_sound, part = False, torch.zeros_like(own)
            self.on_fault(peer_index, fault)
        if self.record is not None:
            self.record.keep_average(peer_index, part_index, own + part if self.return_deltas else part)
        if self._result is None:
            self._begin_result()
        place = self._places[peer_index][part_index].copy_(part)
        # With a lossy codec no more bits are applied.
        applied = place if isinstance(self.compression, NoCompression) else place.half()
        self._digests[peer_index].update(applied.view(torch.uint8).numpy())
        super().register_processed_part(peer_index, part_index, _NOTHING)

    @property
    def digests(self) -> list[bytes]:
        """Of what each reducer gave."""
        return [made.digest()[:DIGEST_SIZE] for made in self._digests]

    def _begin_result(self) -> None:
        parts = [len(own) for peer in self._input_parts_by_peer for own, _info in peer]
        precision = reduce(torch.promote_types, (tensor.dtype for tensor in self.local_tensors))
        self._result = torch.empty(sum(parts), dtype=precision)
        # Of all those in hashlib the fastest where processors know it.
        self._digests = [hashlib.sha256() for _ in self.num_parts_by_peer]
        places = iter(self._result.split(parts))
        self._places = [list(islice(places, count)) for count in self.num_parts_by_peer]

    async def iterate_input_parts_for(self, peer_index: int) -> AsyncIterator[runtime_pb2.Tensor]:
        """See hivemind. Whatever becomes of the round, the reducer may have got these."""
        number = 0
        async for part in super().iterate_input_parts_for(peer_index):
            if self.record is not None:
                self.record.keep_brought(peer_index, number, self._input_parts_by_peer[peer_index][number][0])
            number += 1
            yield part

    async def iterate_output_tensors(self) -> AsyncIterator[torch.Tensor]:
        """See hivemind; here no tensor comes before all are complete."""
        for peer, count in enumerate(self.num_parts_by_peer):
            while self._outputs_registered_by_peer[peer] < count:
                # Before each wait: a round may end before it is waited for, and then nothing comes any more.
                if self.finished.is_set():
                    raise AllreduceException("the round was ended")
                self._output_part_available[peer].clear()
                await self._output_part_available[peer].wait()
        if self._result is not None:
            sizes = [tensor.numel() for tensor in self.local_tensors]
            for tensor, average in zip(self.local_tensors, self._result.split(sizes), strict=True):
                yield average.view(tensor.shape)

    def is_fit_to_send(self) -> bool:
        """Whether this peer's own values can be averaged."""
        return all(fault_in(tensor.detach(), tensor.shape) is None for tensor in self.local_tensors)

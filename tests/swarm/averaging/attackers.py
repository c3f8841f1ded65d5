"""Members that send broken data: real averagers, whose process sends other messages than they were given."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, ClassVar

import torch
from hivemind.averaging import averager
from hivemind.averaging.allreduce import AllreduceException
from hivemind.compression import deserialize_torch_tensor, serialize_torch_tensor
from hivemind.proto import averaging_pb2
from hivemind.utils import MSGPackSerializer

from core.swarm.all_reduce.runner import AtomicAllReduce
from core.swarm.averaging import audited, group_formation
from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.trust.audit import Account

Part = Any
"""hivemind's `AveragingData`."""
Claim = list[Any]
Attack = Callable[[Part], Iterable[Part]]


def _with(change: Callable[[torch.Tensor], torch.Tensor], weight: float | None = None) -> Attack:
    def attack(part: Part) -> Iterable[Part]:
        if part.HasField("tensor_part"):
            changed = change(deserialize_torch_tensor(part.tensor_part))
            part.tensor_part.CopyFrom(serialize_torch_tensor(changed, part.tensor_part.compression))
        if weight is not None:
            part.weight = weight
        yield part

    return attack


def _undecodable(part: Part) -> Iterable[Part]:
    part.tensor_part.buffer = part.tensor_part.buffer[:-1]
    yield part


def _unknown_codec(part: Part) -> Iterable[Part]:
    part.tensor_part.dtype = "no such type"
    yield part


def _with_history(part: Part) -> Iterable[Part]:
    part.tensor_part.requires_grad = True
    yield part


def _twice(part: Part) -> Iterable[Part]:
    yield part
    yield averaging_pb2.AveragingData(tensor_part=part.tensor_part, weight=part.weight)


ATTACKS: dict[str, Attack] = {
    "not finite": _with(lambda part: part.fill_(float("nan"))),
    "infinite in one place": _with(lambda part: part.index_fill_(0, torch.tensor([0]), float("-inf"))),
    "too large to add up": _with(lambda part: part.fill_(3e38)),
    "too short": _with(lambda part: part[:-1]),
    "of another form": _with(lambda part: part.reshape(1, -1)),
    "complex": _with(lambda part: part.to(torch.complex64)),
    "undecodable": _undecodable,
    "of an unknown type": _unknown_codec,
    "with a history": _with_history,
    "too many": _twice,
    "weight not finite": _with(lambda part: part, float("nan")),
    "weight negative": _with(lambda part: part, -1.0),
    "weight infinite": _with(lambda part: part, float("inf")),
    "weight too small to add up": _with(lambda part: part, 1e-300),
    "negated a thousand times": _with(lambda part: -1000 * part),
    "negated": _with(lambda part: -part),
    "zero": _with(torch.zeros_like),
    "a quarter larger": _with(lambda part: 1.25 * part),
    "heavy and negated": _with(lambda part: -part, 1e9),
}


class HostileSender(AtomicAllReduce):
    """Sends broken parts."""

    attack: ClassVar[Attack]

    async def _generate_input_for_peer(self, peer_index: int) -> AsyncIterator[Part]:
        async for part in super()._generate_input_for_peer(peer_index):
            for broken in type(self).attack(part):
                yield broken


class PartialSender(AtomicAllReduce):
    """Sends broken parts to one of the reducers."""

    attack: ClassVar[Attack]

    async def _generate_input_for_peer(self, peer_index: int) -> AsyncIterator[Part]:
        async for part in super()._generate_input_for_peer(peer_index):
            is_first = self.ordered_peer_ids[peer_index] == min(set(self.ordered_peer_ids) - {self.peer_id})
            for sent in type(self).attack(part) if is_first else [part]:
                yield sent


class HostileReducer(AtomicAllReduce):
    """Answers with broken averages."""

    attack: ClassVar[Attack]

    async def _accumulate_parts_streaming(self, stream: AsyncIterator[Any], sender_index: int) -> AsyncIterator[Part]:
        async for average in super()._accumulate_parts_streaming(stream, sender_index):
            for broken in type(self).attack(average):
                yield broken


class TwoFacedReducer(AtomicAllReduce):
    """Answers one member with other averages than the rest."""

    attack: ClassVar[Attack]

    async def _accumulate_parts_streaming(self, stream: AsyncIterator[Any], sender_index: int) -> AsyncIterator[Part]:
        deceived = min(peer for peer in self.sender_peer_ids if peer != self.peer_id)
        async for average in super()._accumulate_parts_streaming(stream, sender_index):
            is_deceived = self.sender_peer_ids[sender_index] == deceived
            for part in type(self).attack(average) if is_deceived else [average]:
                yield part


class SecondStream(AtomicAllReduce):
    """Sends its parts twice, by two streams."""

    async def _communicate_with_peer(self, peer_id: Any) -> None:
        if peer_id != self.peer_id:
            stream = await self._get_peer_stub(peer_id)._stub.rpc_aggregate_part(self._first(peer_id))
            self._other_streams = [*getattr(self, "_other_streams", []), stream]
        await super()._communicate_with_peer(peer_id)

    async def _first(self, peer_id: Any) -> AsyncIterator[Part]:
        part, info = self.tensor_part_container._input_parts_by_peer[self._index_of(peer_id)][0]
        tensor = self.tensor_part_container.compression.compress(part, info)
        code = averaging_pb2.PART_FOR_AVERAGING
        yield averaging_pb2.AveragingData(code=code, group_id=self.group_id, tensor_part=tensor, weight=1.0)
        await asyncio.sleep(5.0)  # longer than the others wait for the next part


class Halting(AtomicAllReduce):
    """Sends each reducer its first part, and the next one stays on the way."""

    async def _generate_input_for_peer(self, peer_index: int) -> AsyncIterator[Part]:
        parts = super()._generate_input_for_peer(peer_index)
        yield await anext(parts)
        async for part in parts:
            await asyncio.sleep(8.0)  # longer than the others wait for parts
            yield part


class HaltingLiar(Halting, HostileReducer):
    """Gives broken averages, and halts so that nobody can ask it for an account of the round."""


class Silent(AtomicAllReduce):
    """Joins the round, takes part in nothing, and answers pings."""

    async def run(self) -> AsyncIterator[torch.Tensor]:
        await asyncio.sleep(8.0)  # longer than the others wait for parts
        self.finalize(cancel=True)
        raise AllreduceException("it was silent")
        yield torch.empty(0)

    async def rpc_aggregate_part(self, stream: AsyncIterator[Any], context: Any) -> AsyncIterator[Part]:
        del stream, context
        await asyncio.sleep(8.0)
        return
        yield None


class Leaving(AtomicAllReduce):
    """Joins the round and leaves it at once."""

    async def run(self) -> AsyncIterator[torch.Tensor]:
        self.finalize(cancel=True)
        raise AllreduceException("it leaves")
        yield torch.empty(0)


def running(runner: type[AtomicAllReduce], attack: str = "") -> type[EpochGradientAverager]:
    """An averager whose rounds are run by that, in its own process."""
    hostile = type("Hostile", (runner,), {"attack": staticmethod(ATTACKS[attack])} if attack else {})

    class Attacker(EpochGradientAverager):
        def _run_internal(self) -> None:
            averager.AllReduceRunner = hostile
            super()._run_internal()

    return _disguised(Attacker)


def excusing(attack: str, lie: Callable[[Account], Account]) -> type[EpochGradientAverager]:
    """An averager that answers with broken averages, and says of the round what `lie` makes of the truth."""
    kind = running(HostileReducer, attack)

    class Excusing(kind):  # type: ignore[misc, valid-type]
        def _run_internal(self) -> None:
            tell = audited._Round.tell
            audited._Round.tell = lambda made, seed: lie(tell(made, seed))  # type: ignore[method-assign, assignment]
            super()._run_internal()

    return _disguised(Excusing)


def claiming(make: Callable[[Claim], object]) -> type[EpochGradientAverager]:
    """An averager that says something else about itself: `make` gets bandwidth, mode and what the averager adds."""

    class Serializer(MSGPackSerializer):
        @classmethod
        def dumps(cls, value: Any) -> bytes:
            is_claim = isinstance(value, list) and len(value) == 3 and isinstance(value[2], bytes)
            made = make(value) if is_claim else value
            return made if isinstance(made, bytes) else bytes(MSGPackSerializer.dumps(made))

    class Claimant(EpochGradientAverager):
        serializer = Serializer

        def _run_internal(self) -> None:
            # It takes everybody itself, and its own claim too.
            vars(group_formation).update(is_sound=lambda *_: True, as_counted=lambda group: group)
            super()._run_internal()

    return _disguised(Claimant)


def _disguised(kind: type[EpochGradientAverager]) -> type[EpochGradientAverager]:
    """Under the name by which the others call it."""
    kind.__name__ = EpochGradientAverager.__name__
    return kind

"""Averaging rounds that end with the same bits for all, or fail, soon and without a trace.

hivemind's peers send each other *differences* between the average and what each brought, and each adds them to its own:
rounding then leaves every peer with other last bits, and a peer whose reducer was lost keeps its own part as if it had
been averaged. A round in which no peer has samples divides by zero. Here the averages themselves are sent where
nothing compresses them, and a round that lost a part, or whose average is not finite, fails.
Where a codec is lossy, differences stay: a parameter rounded to 16 bits would forget small updates.

A peer that has vanished says nothing, and hivemind waits for its parts until the round's time-out. Here the members of
the group ping one another meanwhile: the round fails as soon as one falls silent, and the others go on without it.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import torch
from hivemind.averaging.allreduce import AllreduceException, AllReduceRunner, AveragingMode
from hivemind.averaging.partition import TensorPartReducer
from hivemind.compression import NoCompression
from hivemind.p2p import PeerID

from core.swarm.dht.ping import until_silent
from core.swarm.traffic.lingering_close import first


class MembersLost(AllreduceException):
    """Peers of the group fell silent during a round."""

    def __init__(self, peers: list[PeerID]) -> None:
        super().__init__(f"{' and '.join(map(str, peers))} of the group cannot be reached any more")
        self.peers = peers


class _Average(torch.Tensor):
    """What the reducer hands out: minus the peer's own part it is still the average."""

    def __sub__(self, _brought: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.as_subclass(torch.Tensor)


class _Averages(TensorPartReducer):
    async def accumulate_part(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        average: torch.Tensor = await super().accumulate_part(*args, **kwargs)
        return average.as_subclass(_Average)


class _PartsStub:
    """A reducer's answers end with its last part; the stream of them stays open for a while."""

    def __init__(self, stub: Any, count: int) -> None:
        self._stub, self._count = stub, count

    async def rpc_aggregate_part(self, inputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return first(self._count, await self._stub.rpc_aggregate_part(inputs))


class AtomicAllReduce(AllReduceRunner):
    """One round; see the module."""

    def __init__(self, *, tensors: Any, compression: Any, **options: Any) -> None:
        super().__init__(tensors=tensors, compression=compression, **options)
        self._tensors = tensors
        self._is_exact = isinstance(compression, NoCompression)
        if self._is_exact:
            self.tensor_part_container.return_deltas = False
            # Made by hivemind's constructor, which asks nobody for its class.
            self.tensor_part_reducer.__class__ = _Averages

    async def run(self) -> AsyncIterator[torch.Tensor]:
        # All of it before any of it: what a failed round left in the tensors would be averaged again in the next one.
        updates = await self._unless_a_peer_is_lost(self._average())
        for number, update in enumerate(updates):
            if self._is_exact:
                # Who asks adds what comes: to nothing, so that it becomes the average and not something near it.
                self._tensors[number].zero_()
            yield update

    def should_delay_results(self, peer_id: PeerID) -> bool:
        """Never: a peer without a share sends and receives at once. hivemind lets it finish sending first, so that its
        line is used in one direction at a time and the round takes up to twice as long."""
        del peer_id
        return False

    async def _average(self) -> list[torch.Tensor]:
        updates = [update async for update in super().run()]
        if not all(bool(torch.isfinite(update).all()) for update in updates):
            # No peer had samples, so the weights add up to zero; or a peer sent values that are not finite.
            raise AllreduceException("the average is not finite")
        if self.tensor_part_container.failed_size:
            raise AllreduceException("a peer that averaged a part for all was lost")
        return updates

    async def _unless_a_peer_is_lost(self, averaging: Coroutine[Any, Any, list[torch.Tensor]]) -> list[torch.Tensor]:
        average = asyncio.ensure_future(averaging)
        watches = {asyncio.ensure_future(until_silent(self._p2p, peer)): peer for peer in self._partners()}
        try:
            await asyncio.wait({average, *watches}, return_when=asyncio.FIRST_COMPLETED)
            if average.done():
                return average.result()
            raise MembersLost([peer for watch, peer in watches.items() if watch.done()])
        finally:
            for task in (average, *watches):
                task.cancel()
            # hivemind's tasks send the others a last message.
            await asyncio.gather(average, *watches, return_exceptions=True)

    def _get_peer_stub(self, peer: PeerID) -> Any:
        count = self.tensor_part_container.num_parts_by_peer[self.ordered_peer_ids.index(peer)]
        return _PartsStub(super()._get_peer_stub(peer), count)

    def _partners(self) -> list[PeerID]:
        """The members that this one is connected to: peers that only call others are so to those that reduce."""
        members = list(zip(self.ordered_peer_ids, self.modes, strict=True))
        reduces = (self.peer_id, AveragingMode.CLIENT) not in members
        return [peer for peer, mode in members if peer != self.peer_id and (reduces or mode != AveragingMode.CLIENT)]

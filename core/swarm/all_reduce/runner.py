"""Averaging rounds that end with the same bits for all, or fail, soon and without a trace.

hivemind's peers send each other *differences* between the average and what each brought, and each adds them to its own:
rounding then leaves every peer with other last bits, and a peer whose reducer was lost keeps its own part as if it had
been averaged. A round in which no peer has samples divides by zero. Here the averages themselves are sent, and a round
that lost a part, or whose average is not finite, fails. A codec rounds the average for the reducer as for the others:
where what members bring nearly cancels out, the rounding of differences would be all that is left, another one at each.
Only parameters are sent as differences where a codec is lossy: rounded to 16 bits they would forget small updates.

A peer that has vanished says nothing, and hivemind waits for its parts until the round's time-out. Here the members of
the group ping one another meanwhile: the round fails as soon as one falls silent, and the others go on without it.

Nothing counts of a member that sends what cannot be averaged, and the round goes on with the others. A reducer that
answers so fails it: its averages are missing, and no other values would be those of the other members.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from functools import cache, partial
from typing import Any

import torch
from hivemind.averaging.allreduce import AllreduceException, AllReduceRunner, AveragingMode
from hivemind.compression import NoCompression
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2

from core.swarm.all_reduce.buffered import buffered
from core.swarm.all_reduce.parts_stub import PartsStub
from core.swarm.all_reduce.send_window import SendWindow
from core.swarm.connectivity.ping import until_silent
from core.swarm.trust.distrust import Offence
from core.swarm.trust.parts import CheckedParts, CheckedReducer, Record, Watched

_ANSWERS = 16
"""Averages that wait for a member to take them, before no more of its parts are taken."""


_GRACE = 1.0
"""Seconds from the moment at which a part is lost until this peer leaves the round: the others are to see who failed it
before they see that this one leaves it, too."""
_SAME_MOMENT = _GRACE / 2
_NOBODY_COUNTS = "nothing counts of those who have samples"
_PART_LOST = "a peer that averaged a part for all was lost"


class MembersLost(AllreduceException):
    """Peers of the group fell silent during a round."""

    def __init__(self, peers: list[PeerID]) -> None:
        super().__init__(f"{' and '.join(map(str, peers))} of the group cannot be reached any more")
        self.peers = peers


class AtomicAllReduce(AllReduceRunner):
    """One round; see the module.

    Parameters beside hivemind's own:
        window: bytes of parts that may be on the way; see `SendWindow`.
        refused: members whose parts do not count.
        most_weight: what a member may weigh.
        is_robust: whether the parts that this peer reduces become the centre of what members send, and not the mean.
        accuse: called with a member that sent broken data.
        sends_averages: also where a codec is lossy.
        record: keeps what an audit needs.
        watched: gets what one of the members sends to this one.
    """

    def __init__(
        self,
        *,
        tensors: Any,
        compression: Any,
        window: int,
        refused: Collection[PeerID] = (),
        most_weight: Callable[[PeerID], float],
        accuse: Callable[[PeerID, Offence], None],
        is_robust: bool = False,
        sends_averages: bool = False,
        record: Record | None = None,
        watched: Watched | None = None,
        **options: Any,
    ) -> None:
        super().__init__(tensors=tensors, compression=compression, **options)
        self._tensors, self._refused, self._accuse = tensors, refused, accuse
        self._last_messages: dict[PeerID, float] = {}
        """When each member sent something, by the clock of the loop."""
        self._stopped: dict[PeerID, float] = {}
        """Members that ended a stream before all of it had come, and when, by the clock of the loop."""
        self._is_over = False
        self._heard_of: set[PeerID] = set()
        """Members that have begun to send their parts."""
        # Both made by hivemind's constructor, which asks nobody for their classes.
        self.tensor_part_container.__class__ = CheckedParts
        self.tensor_part_container.on_fault = self._on_broken_average
        self.tensor_part_container.record = record
        is_exact = isinstance(compression, NoCompression)
        self._sends_averages = sends_averages or is_exact
        self.tensor_part_container.return_deltas = not self._sends_averages
        self._guard(self.tensor_part_reducer, most_weight)
        if self._sends_averages and not is_exact:
            self.tensor_part_reducer.codec = compression
        if record is not None:
            numbers = [self._index_of(peer) for peer in self.sender_peer_ids]
            self.tensor_part_reducer.on_part = lambda sender, *part: record.keep_part(numbers[sender], *part)
        if watched is not None:
            self.tensor_part_reducer.watched = self.sender_peer_ids.index(watched.peer), watched
        if is_robust:
            self.tensor_part_reducer.make_robust()
        counts = list(self.tensor_part_container.num_parts_by_peer)
        counts[self._index_of(self.peer_id)] = 0
        patience = self.sender_timeout / 3 if self.sender_timeout else None
        self._window = SendWindow(counts, window // self.tensor_part_container.part_size_bytes, patience)

    def _guard(self, reducer: CheckedReducer, most_weight: Callable[[PeerID], float]) -> None:
        senders = self.sender_peer_ids
        reducer.__class__ = CheckedReducer
        reducer.hands_out_averages = self._sends_averages
        reducer.own_index = senders.index(self.peer_id) if self.peer_id in senders else None
        # All its parts are to count the same.
        reducer.most_weight = cache(lambda sender: most_weight(senders[sender]))
        reducer.on_fault = lambda sender, offence: self._blame(senders[sender], offence)
        reducer.on_nothing = lambda: self.finalize(exception=AllreduceException(_NOBODY_COUNTS))
        reducer.dropped = {senders.index(peer) for peer in self._refused if peer in senders}

    async def run(self) -> AsyncIterator[torch.Tensor]:
        # All of it before any of it: what a failed round left in the tensors would be averaged again in the next one.
        updates = await self._unless_a_peer_is_lost(self._average())
        for number, update in enumerate(updates):
            if self._sends_averages:
                # Who asks adds what comes: to nothing, so that it becomes the average and not something near it.
                self._tensors[number].zero_()
            yield update

    @property
    def digests(self) -> list[bytes]:
        """Of what each reducer gave; the same for all members, whom an honest one sends the same bits. Empty where they
        are sent differences."""
        return self.tensor_part_container.digests if self._sends_averages else []

    @property
    def stopped(self) -> list[PeerID]:
        """Members that ended a stream before all of it had come, without those that may have lost one of them."""
        began = min(self._stopped.values(), default=0.0)
        return [peer for peer, at in self._stopped.items() if at < began + _SAME_MOMENT]

    @property
    def incomplete(self) -> frozenset[PeerID]:
        """Members that ended a stream before all of it had come."""
        return frozenset(self._stopped)

    def should_delay_results(self, peer_id: PeerID) -> bool:
        """Never: a peer without a share sends and receives at once. hivemind lets it finish sending first, so that its
        line is used in one direction at a time and the round takes up to twice as long."""
        del peer_id
        return False

    async def rpc_aggregate_part(self, stream: AsyncIterator[Any], context: P2PContext) -> AsyncIterator[Any]:
        """See hivemind, which lets a member add its parts as often as it calls, in place of those of others."""
        peer = context.remote_id
        if peer in self._heard_of:
            self.tensor_part_reducer.drop(self.sender_peer_ids.index(peer), "parts_too_many")
        if peer in self._heard_of or peer not in self.sender_peer_ids:
            yield averaging_pb2.AveragingData(code=averaging_pb2.PROTOCOL_VIOLATION)
            return
        self._heard_of.add(peer)
        async for answer in super().rpc_aggregate_part(stream, context):
            yield answer

    async def _average(self) -> list[torch.Tensor]:
        if not self.tensor_part_container.is_fit_to_send():
            error = AllreduceException("this peer's own values are not finite")
            self.finalize(exception=error)
            raise error
        updates = [update async for update in super().run()]
        if not self.tensor_part_container.is_sound:
            # No peer had samples, so the weights add up to zero; or a peer sent values that are not finite.
            raise AllreduceException("the average is not finite")
        if self.tensor_part_container.failed_size:
            raise AllreduceException(_PART_LOST)
        return updates

    async def _unless_a_peer_is_lost(self, averaging: Coroutine[Any, Any, list[torch.Tensor]]) -> list[torch.Tensor]:
        average = asyncio.ensure_future(averaging)
        refusal = asyncio.ensure_future(self._window.failed.wait())
        watches = {asyncio.ensure_future(self._until_silent(peer)): peer for peer in self._partners()}
        try:
            await asyncio.wait({average, refusal, *watches}, return_when=asyncio.FIRST_COMPLETED)
            if average.done():
                return average.result()
            if lost := [peer for watch, peer in watches.items() if watch.done()]:
                raise MembersLost(lost)
            # Nothing that still comes could mend it, and some may never come. Who is lost is worth knowing.
            await asyncio.wait({average, *watches}, timeout=_GRACE, return_when=asyncio.FIRST_COMPLETED)
            if lost := [peer for watch, peer in watches.items() if watch.done()]:
                raise MembersLost(lost)
            raise AllreduceException(_PART_LOST)
        finally:
            # Streams that end from now on are ended by this peer.
            self._is_over = True
            for task in (average, refusal, *watches):
                task.cancel()
            # hivemind's tasks send the others a last message.
            await asyncio.gather(average, refusal, *watches, return_exceptions=True)

    def _get_peer_stub(self, peer: PeerID) -> Any:
        reducer = self._index_of(peer)
        count = self.tensor_part_container.num_parts_by_peer[reducer]
        heard, stopped = partial(self._heard, peer), partial(self._on_stop, peer)
        stub = super()._get_peer_stub(peer)
        return PartsStub(stub, self._window, reducer=reducer, count=count, heard=heard, stopped=stopped)

    async def _until_silent(self, peer: PeerID) -> None:
        await until_silent(self._p2p, peer, lambda: self._last_messages.get(peer, 0.0))

    def _heard(self, peer: PeerID) -> None:
        self._last_messages[peer] = asyncio.get_running_loop().time()

    def _index_of(self, peer: PeerID) -> int:
        return list(self.ordered_peer_ids).index(peer)

    async def _accumulate_parts_streaming(self, stream: AsyncIterator[Any], sender_index: int) -> AsyncIterator[Any]:
        sender = self.sender_peer_ids[sender_index]

        async def parts() -> AsyncIterator[Any]:
            async for part in stream:
                self._heard(sender)
                yield part

        # A member that is slow to take its averages does not hold up what it sends meanwhile.
        async for answer in buffered(super()._accumulate_parts_streaming(parts(), sender_index), _ANSWERS):
            yield answer

    async def _ban_sender(self, peer_id: PeerID) -> None:
        self._on_stop(peer_id)
        await super()._ban_sender(peer_id)

    def _on_stop(self, peer: PeerID) -> None:
        if not self._is_over and not self._future.done():
            self._stopped.setdefault(peer, asyncio.get_running_loop().time())

    def _on_broken_average(self, reducer: int, offence: Offence) -> None:
        # Without samples every honest average is one divided by zero.
        if self.weight > 0 or self.tensor_part_reducer.has_samples:
            self._blame(self.ordered_peer_ids[reducer], offence)

    def _blame(self, peer: PeerID, offence: Offence) -> None:
        if peer != self.peer_id and not self._future.done():
            self._accuse(peer, offence)

    def _partners(self) -> list[PeerID]:
        """The members that this one is connected to: peers that only call others are so to those that reduce."""
        members = list(zip(self.ordered_peer_ids, self.modes, strict=True))
        reduces = (self.peer_id, AveragingMode.CLIENT) not in members
        return [peer for peer, mode in members if peer != self.peer_id and (reduces or mode != AveragingMode.CLIENT)]

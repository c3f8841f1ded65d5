"""Averaging rounds that end with the same bits for all, or fail, soon and without a trace.

hivemind's peers send each other *differences* between the average and what each brought, and each adds them to its own:
rounding then leaves every peer with other last bits, and a peer whose reducer was lost keeps its own part as if it had
been averaged. A round in which nobody has samples divides by nothing. Here the averages themselves are sent where
nothing compresses them, and a round that lost a part, or whose average is not finite, fails.
Where a codec is lossy, differences stay: a parameter rounded to 16 bits would forget small updates.

A peer that has vanished says nothing, and hivemind waits for its parts until the round's time-out. Here the members of
the group greet one another meanwhile: the round fails as soon as one falls silent, and the others go on without it.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any

import torch
from hivemind.averaging.allreduce import AllreduceException, AllReduceRunner, AveragingMode
from hivemind.averaging.partition import TensorPartReducer
from hivemind.compression import NoCompression
from hivemind.p2p import P2PDaemonError, P2PHandlerError, PeerID
from hivemind.proto import dht_pb2

_GREETINGS = 4
"""In the time after which a silent peer is taken to be lost."""


class _Average(torch.Tensor):
    """What the reducer hands out: "less what the peer brought" it is still the average."""

    def __sub__(self, _brought: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        return self.as_subclass(torch.Tensor)


class _Averages(TensorPartReducer):
    async def accumulate_part(self, *args: Any, **kwargs: Any) -> torch.Tensor:
        average: torch.Tensor = await super().accumulate_part(*args, **kwargs)
        return average.as_subclass(_Average)


class AtomicAllReduce(AllReduceRunner):
    """One round; see the module.

    Parameters beside hivemind's own:
        silence: seconds without an answer after which a peer is taken to be lost.
    """

    def __init__(self, *, silence: float, tensors: Any, compression: Any, **options: Any) -> None:
        super().__init__(tensors=tensors, compression=compression, **options)
        self._silence = silence
        self._tensors = tensors
        self._is_exact = isinstance(compression, NoCompression)
        if self._is_exact:
            self.tensor_part_container.return_deltas = False
            # Made by hivemind's constructor, which asks nobody for its class.
            self.tensor_part_reducer.__class__ = _Averages

    async def run(self) -> AsyncIterator[torch.Tensor]:
        # All of it before any of it: what a failed round left in the tensors would be averaged again in the next one.
        updates = await self._unless_somebody_is_lost(self._average())
        for number, update in enumerate(updates):
            if self._is_exact:
                # Who asks adds what comes: to nothing, so that it becomes the average and not something near it.
                self._tensors[number].zero_()
            yield update

    async def _average(self) -> list[torch.Tensor]:
        updates = [update async for update in super().run()]
        if not all(bool(torch.isfinite(update).all()) for update in updates):
            # Nobody had samples, so the weights add up to nothing; or a peer brought what is no number.
            raise AllreduceException("the average is not finite")
        if self.tensor_part_container.failed_size:
            raise AllreduceException("a peer that averaged a part for all was lost")
        return updates

    async def _unless_somebody_is_lost(self, averaging: Coroutine[Any, Any, list[torch.Tensor]]) -> list[torch.Tensor]:
        average = asyncio.ensure_future(averaging)
        watches = {asyncio.ensure_future(self._until_silent(peer)): peer for peer in self._partners()}
        try:
            await asyncio.wait({average, *watches}, return_when=asyncio.FIRST_COMPLETED)
            if average.done():
                return average.result()
            lost = [str(peer) for watch, peer in watches.items() if watch.done()]
            raise AllreduceException(f"{' and '.join(lost)} of the group cannot be reached any more")
        finally:
            for task in (average, *watches):
                task.cancel()
            # hivemind's tasks take their leave of the others.
            await asyncio.gather(average, *watches, return_exceptions=True)

    def _partners(self) -> list[PeerID]:
        """Whom this peer can reach. One that only calls others averages no part, and is merely left out when lost."""
        members = zip(self.ordered_peer_ids, self.modes, strict=True)
        return [peer for peer, mode in members if mode != AveragingMode.CLIENT and peer != self.peer_id]

    async def _until_silent(self, peer: PeerID) -> None:
        stub, clock = self._get_peer_stub(peer), asyncio.get_running_loop().time
        heard = clock()
        while (left := heard + self._silence - clock()) > 0:
            # Not the call's own timeout: it is `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that
            # comes together with the answer; the round then waits for this watch for as long as the peer answers.
            with contextlib.suppress(TimeoutError, P2PHandlerError, P2PDaemonError):
                async with asyncio.timeout(left):
                    await stub.rpc_ping(dht_pb2.PingRequest())
                heard = clock()
            await asyncio.sleep(self._silence / _GREETINGS)

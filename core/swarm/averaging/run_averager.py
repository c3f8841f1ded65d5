"""What the averagers of gradients and of the state have in common."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, AsyncIterator  # noqa: UP035 - hivemind knows only this one as a stream

import torch
from hivemind.averaging.control import StepControl
from hivemind.averaging.group_info import GroupInfo
from hivemind.compression import CompressionInfo
from hivemind.p2p import P2PContext
from hivemind.proto import averaging_pb2
from hivemind.utils import get_dht_time
from hivemind.utils.asyncio import achain, as_aiter

from core.swarm.all_reduce.bandwidth import part_size_in_group
from core.swarm.all_reduce.pieces import pieces_of
from core.swarm.all_reduce.send_window import window_size
from core.swarm.averaging.audited import AuditedAverager
from core.swarm.traffic.bottleneck import nominal_bandwidth
from core.system import freed_memory

_PREFETCH = 2
"""Parts of each stream that are compressed, or decompressed, before it is their turn."""
_SEARCH_BEYOND = 2.0
"""Seconds beyond its matchmaking time for which a group of a round is looked for that is not repeated."""
_POLL_EVERY = 0.05
"""Seconds between two looks whether a group that was found has begun."""
_ENDED_GROUPS = 16
"""That are remembered: members are late by a round or two at most."""


class RunAverager(AuditedAverager):
    """What both averagers have in common.

    Parameters beside those of `GuardedAverager`:
        bandwidth: bytes per second of this peer's line, asked before each round.
        is_robust: whether a minority of members cannot move the average far; see `centered_clip`.
    """

    last_round: StepControl | None = None
    _repeats_rounds = True
    """Whether a search without a group, and a round that failed, is followed by another one."""
    _sends_averages = False
    """In place of differences to what each member brought, also where a codec is lossy."""

    def __init__(
        self,
        *args: Any,
        bandwidth: Callable[[], float] = nominal_bandwidth,
        is_robust: bool = False,
        **options: Any,
    ) -> None:
        self._line_bandwidth, self._is_robust = bandwidth, is_robust
        self._ended_groups: deque[bytes] = deque(maxlen=_ENDED_GROUPS)
        super().__init__(*args, bandwidth=bandwidth(), **options)

    def _run_internal(self) -> None:
        # A forked torch makes itself a new thread pool at the first use, and two threads that do so at once break it
        # ("Invalid thread pool!"): the compression of a first round then fails now and then, and the round times out.
        torch.set_num_threads(torch.get_num_threads())
        super()._run_internal()

    def step(self, *args: Any, timeout: float | None = None, **options: Any) -> Any:
        self.update_expected_peers()
        self.bandwidth = self._line_bandwidth()
        if not self._repeats_rounds:
            begins = max(options.get("scheduled_time") or 0.0, now := get_dht_time())
            patience = self.matchmaking_kwargs["min_matchmaking_time"] + _SEARCH_BEYOND
            timeout, options["allow_retries"] = begins - now + patience, False
        self.last_round = super().step(*args, timeout=timeout, **options)
        return self.last_round

    # What follows runs in the averager's process.

    async def _step(self, *, step: StepControl, **options: Any) -> None:
        try:
            await super()._step(step=step, **options)
        finally:
            self._matchmaking.end(step)
            # It holds more for a round than for all else, and until the next one others can use that.
            freed_memory.give_back()

    @contextmanager
    def _register_allreduce_group(self, group_info: GroupInfo) -> Iterator[None]:
        try:
            with super()._register_allreduce_group(group_info):
                yield
        finally:
            self._ended_groups.append(group_info.group_id)

    async def _run_allreduce_inplace_(
        self,
        tensors: Sequence[torch.Tensor],
        group_info: GroupInfo,
        *,
        tensor_infos: Sequence[CompressionInfo] | None = None,
        peer_fractions: Sequence[int] = (),
        **options: Any,
    ) -> None:
        bandwidths = [self.serializer.loads(gathered)[0] for gathered in group_info.gathered]
        by_tensor = pieces_of(tensors, peer_fractions)
        if tensor_infos is not None:
            tensor_infos = [info for info, own in zip(tensor_infos, by_tensor, strict=True) for _piece in own]
        options |= {
            "tensor_infos": tensor_infos,
            "peer_fractions": peer_fractions,
            "prefetch": _PREFETCH,
            "is_robust": self._is_robust,
            "sends_averages": self._sends_averages,
            "window": window_size(bandwidths),
            "part_size_bytes": part_size_in_group(options["part_size_bytes"], bandwidths),
        }
        await super()._run_allreduce_inplace_(list(chain(*by_tensor)), group_info, **options)

    async def rpc_aggregate_part(
        self, stream: AsyncIterator[averaging_pb2.AveragingData], context: P2PContext
    ) -> AsyncIterator[averaging_pb2.AveragingData]:
        """Average a part that another member sends; see hivemind.

        hivemind takes one of a group that has ended here, or that this peer has given up, for one of the next group,
        and lets it wait for that.
        """
        first = await anext(stream)
        if not await self._is_in(first.group_id):
            yield averaging_pb2.AveragingData(code=averaging_pb2.BAD_GROUP_ID)
            return
        async for message in super().rpc_aggregate_part(achain(as_aiter(first), stream), context):
            yield message

    async def _is_in(self, group_id: bytes) -> bool:
        """Whether this peer takes part in the round of a group, once that is certain."""
        while group_id not in self._running_groups:
            if group_id in self._ended_groups or not self._matchmaking.may_be_in(group_id):
                return False
            await asyncio.sleep(_POLL_EVERY)
        return True

"""hivemind's two averagers, with one source of state."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, AsyncIterator  # noqa: UP035 - hivemind knows only this one as a stream

import msgspec
import torch
from hivemind.averaging.control import StepControl
from hivemind.averaging.group_info import GroupInfo
from hivemind.compression import (
    BlockwiseQuantization,
    CompressionBase,
    CompressionInfo,
    Float16Compression,
    NoCompression,
    Uniform8BitQuantization,
)
from hivemind.optim.grad_averager import GradientAverager
from hivemind.optim.state_averager import TrainingStateAverager
from hivemind.p2p import P2PContext, PeerID
from hivemind.proto import averaging_pb2
from hivemind.utils import get_dht_time
from hivemind.utils.asyncio import achain, as_aiter

from core.swarm.averaging.group import is_member_at, to_gather
from core.swarm.averaging.guarded import GuardedAverager
from core.swarm.averaging.line_worth import Line
from core.swarm.averaging.pieces import pieces_of
from core.swarm.averaging.send_window import window_size
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.records import own_subkey
from core.swarm.state.checks import Layout, State, check_epoch, check_numbers, check_tensors, layout_of
from core.swarm.state.transfer import StateTransfer
from core.swarm.state.update_chain import extended
from core.swarm.state.update_transfer import UpdateTransfer
from core.swarm.traffic.bottleneck import nominal_bandwidth
from core.swarm.trust.claims import added_by

_PREFETCH = 2
"""Parts of each stream that are compressed, or decompressed, before it is their turn."""
_SEARCH_BEYOND = 2.0
"""Seconds beyond its matchmaking time for which a group of a round is looked for that is not repeated."""
_POLL_EVERY = 0.05
"""Seconds between two looks whether a group that was found has begun."""
_NEAR = 16
"""Epochs between members that average their states."""
_ENDED_GROUPS = 16
"""That are remembered: members are late by a round or two at most."""

COMPRESSIONS: dict[str, type[CompressionBase]] = {
    "none": NoCompression,
    "float16": Float16Compression,
    "uniform8bit": Uniform8BitQuantization,
    "blockwise8bit": BlockwiseQuantization,
}


def state_prefix(run_id: str) -> str:
    """Under which averagers of parameters and optimizer state meet: trainers and the backbone alike."""
    return f"{run_id}_state_averager"


class RunAverager(GuardedAverager):
    """What both averagers have in common.

    Parameters beside those of `GuardedAverager`:
        bandwidth: bytes per second of this peer's line, asked before each round.
    """

    last_round: StepControl | None = None
    _repeats_rounds = True
    """Whether a search without a group, and a round that failed, is followed by another one."""

    def __init__(self, *args: Any, bandwidth: Callable[[], float] = nominal_bandwidth, **options: Any) -> None:
        self._line_bandwidth = bandwidth
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
        by_tensor = pieces_of(tensors, peer_fractions)
        if tensor_infos is not None:
            tensor_infos = [info for info, own in zip(tensor_infos, by_tensor, strict=True) for _piece in own]
        options |= {
            "tensor_infos": tensor_infos,
            "peer_fractions": peer_fractions,
            "prefetch": _PREFETCH,
            "window": window_size(self.serializer.loads(gathered)[0] for gathered in group_info.gathered),
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


class EpochGradientAverager(GradientAverager, UpdateTransfer, RunAverager):
    """Finds a group among peers of the same epoch, sends it a random number, and gives the last average away.

    hivemind's groups form under the run's name alone: a peer that returns after an absence then meets peers that are an
    epoch ahead, and the round is lost for all of them. The numbers of all members distinguish this round from every
    other. And gradients are of no use to a newcomer: sharing them would only double every download of state.

    Parameters beside hivemind's own:
        epoch: the present one.
        adds_samples: False for a peer that only reduces for the others.
    """

    def __init__(self, *args: Any, epoch: Callable[[], int], adds_samples: bool = True, **kwargs: Any) -> None:
        self._epoch, self._adds_samples = epoch, adds_samples
        super().__init__(*args, allow_state_sharing=False, **kwargs)

    def load(self, average: list[torch.Tensor]) -> None:
        """Use an average that other peers made."""
        with torch.no_grad(), self.get_tensors() as tensors:
            for tensor, value in zip(tensors, average, strict=True):
                tensor.copy_(value)

    def accumulate_grads_(self, batch_size: int) -> None:
        """Add the gradients of a microbatch, of whatever size.

        hivemind weighs each by its size and then divides by their number, which is the mean over all samples only where
        all are as large as the first.
        """
        super().accumulate_grads_(batch_size)
        self.local_times_accumulated = self.local_samples_accumulated / self._anchor_batch_size

    def step(self, *args: Any, reset_accumulators: bool = True, **kwargs: Any) -> Any:
        """Average what was accumulated, and keep it until the update is made: a round that fails costs no samples."""
        del reset_accumulators
        control = super().step(*args, reset_accumulators=False, **kwargs)
        self._accumulators_used_in_step = False
        return control

    def schedule_step(self, scheduled_time: float | None = None, **kwargs: Any) -> StepControl:
        epoch = self._epoch()
        # The averager's process reads this before the round.
        self._outer_pipe.send(("_meet_in", [epoch], {}))
        line = Line(self._line_bandwidth(), can_reduce=not self.client_mode)
        gather = to_gather(epoch, slot_of(own_subkey(self.peer_id)), line, adds_samples=self._adds_samples)
        # The optimizer decides whether a failed round is repeated: it asks first how far the run is.
        return super().schedule_step(scheduled_time, gather=gather, allow_retries=False, **kwargs)

    @staticmethod
    def fits(theirs: object, own: object) -> bool:
        """See `GuardedAverager`."""
        return isinstance(own, Sequence) and is_member_at(own[0], theirs)

    def _most_weight(self, group: GroupInfo, peer: PeerID) -> float:
        _epoch, _nonce, adds_samples, *_ = added_by(peer, group)
        return super()._most_weight(group, peer) if adds_samples else 0.0

    async def _meet_in(self, epoch: int) -> None:
        """Runs in the averager's process."""
        self._matchmaking.group_key_manager.prefix = f"{self.prefix}_{epoch}"

    def drop_rounds(self) -> None:
        """End what is still averaged: nobody waits for it, and the next round would wait for its tensors."""
        self._outer_pipe.send(("_drop_rounds", [], {}))

    async def _drop_rounds(self) -> None:
        """Runs in the averager's process."""
        for group in list(self._running_groups.values()):
            if group.done() and not group.cancelled():
                group.result().finalize(cancel=True)
            else:
                group.cancel()


class CheckedStateAverager(TrainingStateAverager, StateTransfer, RunAverager):
    """Applies only a state that passes all checks; `state_was_loaded` is the result of the last try.

    What is given away or kept is a copy made between two steps: hivemind reads the tensors while they are sent, and
    announces the next epoch before they are of it.
    """

    nonces: tuple[bytes, ...] = ()
    """Those of the group that averaged for the next update."""
    _repeats_rounds = False
    """The next update waits for the state to be averaged. Alone, a peer would look for others that have done so."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._stepping = threading.RLock()
        super().__init__(*args, **kwargs)

    @staticmethod
    def fits(theirs: object, own: object) -> bool:
        """See `GuardedAverager`: the epoch of the state."""
        return type(theirs) is type(own) is int and abs(theirs - own) <= _NEAR

    def _most_weight(self, _group: GroupInfo, _peer: PeerID) -> float:
        return 1.0

    def step(self, *args: Any, increment_epoch: bool = False, **kwargs: Any) -> Any:
        with self._stepping:
            result = super().step(*args, increment_epoch=increment_epoch, **kwargs)
            if increment_epoch:
                self.updates = extended(self.updates, self.local_epoch, self.nonces)
            return result

    def get_current_state(self) -> Any:
        """What hivemind gives to a peer that asks."""
        metadata, tensors, infos = self._copied()
        return self.announced(metadata, tensors), tensors, infos

    def snapshot(self) -> State:
        """A copy of the present state, whole: of one epoch, and no longer touched by training."""
        metadata, tensors, _infos = self._copied()
        return metadata, tensors

    def _copied(self) -> tuple[dict[str, Any], list[torch.Tensor], Any]:
        with self._stepping:
            metadata, tensors, infos = super().get_current_state()
            metadata["updates"] = msgspec.to_builtins(self.updates)
            with torch.no_grad(), self.lock_averaged_tensors:
                return metadata, [tensor.detach().clone() for tensor in tensors], infos

    def layout(self) -> Layout:
        """Of this peer's own state."""
        metadata, tensors, _infos = super().get_current_state()
        scheduler = self.scheduler

        def rates(epoch: int) -> list[float]:
            return [base * at(epoch) for base, at in zip(scheduler.base_lrs, scheduler.lr_lambdas, strict=True)]

        numbers = tuple(metadata["optimizer_metadata"])
        return Layout(layout_of(tensors), len(self.main_parameters), numbers, self.optimizer.state_dict(), rates)

    def adopt(self, state: State) -> None:
        """Take over a state kept on disk, of any epoch, with the same checks as one that a peer sends.

        Raises:
            BadState: it does not fit.
        """
        metadata, tensors = state
        layout, epoch = self.layout(), check_epoch(metadata["epoch"], 0, metadata["epoch"])
        check_tensors(tensors, layout.tensors)
        check_numbers(metadata["optimizer_metadata"], epoch, layout)
        # hivemind takes over no state that is older than its own, and moves the schedule only forward.
        self.local_epoch = min(self.local_epoch, epoch)
        self.load_state_from_peers(offered=state)
        self.scheduler.last_epoch, self.scheduler._step_count = epoch, epoch + 1

    def state_size(self) -> int:
        """Bytes that a whole state takes uncompressed."""
        return self.layout().size

"""The averager of gradients: one group for each epoch."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from hivemind.averaging.control import StepControl
from hivemind.averaging.group_info import GroupInfo
from hivemind.optim.grad_averager import GradientAverager
from hivemind.p2p import PeerID

from core.learning.order import Piece
from core.swarm.all_reduce.line_worth import Line
from core.swarm.averaging.group import is_member_at, to_gather
from core.swarm.averaging.round_control import give_up
from core.swarm.averaging.run_averager import RunAverager
from core.swarm.averaging.watching import WatchingAverager
from core.swarm.dht.contributions import slot_of
from core.swarm.dht.records import own_subkey
from core.swarm.state.update_transfer import UpdateTransfer
from core.swarm.trust.claims import added_by
from core.swarm.trust.validation import MOST_LATE


class EpochGradientAverager(GradientAverager, UpdateTransfer, WatchingAverager, RunAverager):
    """Finds a group among peers of the same epoch, sends it a random number, and gives the last average away.

    hivemind's groups form under the run's name alone: a peer that returns after an absence then meets peers that are an
    epoch ahead, and the round is lost for all of them. The numbers of all members distinguish this round from every
    other. And gradients are of no use to a newcomer: sharing them would only double every download of state.

    Parameters beside hivemind's own:
        epoch: the present one.
        adds_samples: False for a peer that only reduces for the others.
    """

    computes_on: Callable[[], bool] = staticmethod(lambda: False)
    """Whether this peer is going to add samples to the next update during its round."""
    _sends_averages = True
    """An optimizer that divides by the size of gradients makes any rounding as large as an update."""
    _samples_apart: int | None = None
    _apart: tuple[torch.Tensor, ...] | None = None
    """A second set of accumulators, made when it is first needed."""
    is_between_rounds = True
    """Whether the update of the last round was made and no other round has begun."""
    next_piece: Piece | None = None
    """Whose gradients are accumulated next; None if they are none that anybody could compute again."""
    _pieces_apart: int | None = None

    def __init__(self, *args: Any, epoch: Callable[[], int], adds_samples: bool = True, **kwargs: Any) -> None:
        self._epoch, self._adds_samples = epoch, adds_samples
        self._pieces: list[Piece] = []
        super().__init__(*args, allow_state_sharing=False, **kwargs)

    def lend(self) -> None:
        """Have the next microbatch write its gradients where the averages are, which nobody needs between two rounds:
        they take no memory of their own. After a failed round they do: the averager's process may still be at it."""
        if not self.is_between_rounds:
            return
        with torch.no_grad(), self.get_tensors() as tensors:
            lent = list[torch.Tensor]()
            for parameter, tensor in zip(self.parameters, tensors, strict=True):
                if (parameter.device, parameter.dtype) == (tensor.device, tensor.dtype):
                    parameter.grad = tensor
                    lent.append(tensor)
            if lent:
                torch._foreach_zero_(lent)

    def give_up_round(self, control: StepControl | None) -> None:
        """See `give_up`. A round that begins by that lasts until its group ends it; this peer computes on meanwhile."""
        give_up(control, begins=self._take_lent_back)

    def _take_lent_back(self) -> None:
        # Only then are there gradients of a microbatch. They may be infinite, and the round would fail for all.
        if self.is_between_rounds:
            self.is_between_rounds = False
            with torch.no_grad(), self.get_tensors() as tensors:
                for parameter, tensor in zip(self.parameters, tensors, strict=True):
                    parameter.grad = None
                    tensor.zero_()

    def load(self, average: list[torch.Tensor]) -> None:
        """Use an average that other peers made."""
        with torch.no_grad(), self.get_tensors() as tensors:
            for tensor, value in zip(tensors, average, strict=True):
                tensor.copy_(value)

    def accumulate_grads_(self, batch_size: int) -> None:
        """Add the gradients of a microbatch, of whatever size.

        hivemind weighs each by its size and then divides by their number, which is the mean over all samples only where
        all are as large as the first. And it makes a call for each parameter, which a small model waits for.
        """
        self._anchor_batch_size: int | None = self._anchor_batch_size or batch_size
        self.local_samples_accumulated += batch_size
        self._count_times()
        with torch.no_grad():
            gradients, accumulated = list(self._grads_from_parameters()), list(self._grad_accumulators())
            torch._foreach_add_(accumulated, gradients, alpha=batch_size / self._anchor_batch_size)
        if self.next_piece is not None:
            self._pieces.append(self.next_piece)
            self.next_piece = None

    def _count_times(self) -> None:
        self.local_times_accumulated = self.local_samples_accumulated / (self._anchor_batch_size or 1)

    @property
    def samples_of_round(self) -> int:
        """That the present round averages, or the next one if there is none."""
        return int(self.local_samples_accumulated if self._samples_apart is None else self._samples_apart)

    @property
    def pieces_of_round(self) -> list[Piece]:
        """The same samples by name."""
        return self._pieces[: self._pieces_apart]

    def forget_if_late(self) -> None:
        """Before a round: drop samples of parameters so old that no validator has them any more."""
        if self._pieces and not self.is_apart and self._pieces[0].epoch < self._epoch() - MOST_LATE:
            self.reset_accumulated_grads_()

    @property
    def is_apart(self) -> bool:
        """Whether what is accumulated now counts in the round after the present one."""
        return self._samples_apart is not None

    def set_apart(self) -> None:
        """Keep what the round averages apart from what is accumulated from now on."""
        if self._apart is None:
            self._apart = tuple(map(torch.zeros_like, self._grad_accumulators()))
        self._local_accumulators, self._apart = self._apart, self._local_accumulators
        self._samples_apart, self._pieces_apart = self.local_samples_accumulated, len(self._pieces)

    def take_back(self) -> None:
        """What was kept apart counts in the next round, because this one failed."""
        if self._samples_apart is not None and self._apart is not None:
            for accumulated, apart in zip(self._grad_accumulators(), self._apart, strict=True):
                accumulated.add_(apart)
            self._forget_apart()

    def reset_accumulated_grads_(self) -> None:
        """Forget what has been averaged: what was kept apart, or else all."""
        del self._pieces[: self._pieces_apart]
        if self._samples_apart is None:
            super().reset_accumulated_grads_()
        else:
            self.local_samples_accumulated -= self._samples_apart
            self._forget_apart()
            self._count_times()

    def _forget_apart(self) -> None:
        for apart in self._apart or ():
            apart.zero_()
        self._samples_apart = self._pieces_apart = None

    def step(self, *args: Any, reset_accumulators: bool = True, **kwargs: Any) -> Any:
        """Average what was accumulated, and keep it until the update is made: a round that fails costs no samples."""
        del reset_accumulators
        self.is_between_rounds = False
        control = super().step(*args, reset_accumulators=False, **kwargs)
        self._accumulators_used_in_step = False
        return control

    def schedule_step(self, scheduled_time: float | None = None, **kwargs: Any) -> StepControl:
        epoch = self._epoch()
        # The averager's process reads this before the round.
        self._outer_pipe.send(("_meet_in", [epoch], {}))
        line = Line(self._line_bandwidth(), can_reduce=not self.client_mode)
        slot, computes_on = slot_of(own_subkey(self.peer_id)), self.computes_on()
        gather = to_gather(epoch, slot, line, adds_samples=self._adds_samples, computes_on=computes_on)
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

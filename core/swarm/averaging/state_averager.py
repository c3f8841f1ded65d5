"""The averager of parameters and optimizer state: the one place from which a state is given away or kept."""

import os
import threading
from typing import Any

import msgspec
import torch
from hivemind.averaging.group_info import GroupInfo
from hivemind.optim.state_averager import TrainingStateAverager
from hivemind.p2p import PeerID

from core.swarm.averaging.run_averager import RunAverager
from core.swarm.state.checks import Layout, State, check_epoch, check_numbers, check_tensors, layout_of
from core.swarm.state.transfer import StateTransfer
from core.swarm.state.update_chain import extended

_NEAR = 16
"""Epochs between members that average their states."""


def state_prefix(run_id: str) -> str:
    """Under which averagers of parameters and optimizer state meet: trainers and the backbone alike."""
    return f"{run_id}_state_averager"


class CheckedStateAverager(TrainingStateAverager, StateTransfer, RunAverager):
    """Applies only a state that passes all checks; `state_was_loaded` is the result of the last try.

    What is given away or kept is a copy made between two steps: hivemind reads the tensors while they are sent, and
    announces the next epoch before they are of it.
    """

    rounding = 0.03
    """See `AuditedAverager`: less is left of a gradient than of a state."""
    is_coarse = False
    nonces: tuple[bytes, ...] = ()
    """Those of the group that averaged for the next update."""
    digests = b""
    """Of what it averaged."""
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
                self.updates = extended(self.updates, self.local_epoch, self.nonces, self.digests)
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

    def adopt(self, state: State, as_epoch: int | None = None) -> None:
        """Take over a state kept on disk, of any epoch, with the same checks as one that a peer sends; `as_epoch`: as
        that of a later epoch.

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
        if as_epoch is not None:
            self.local_epoch, self.updates = as_epoch, extended(self.updates, as_epoch, [os.urandom(8)])
            self._update_scheduler()

    def state_size(self) -> int:
        """Bytes that a whole state takes uncompressed."""
        return self.layout().size

"""Passes on the run's last update: a peer that missed it catches up by the average instead of the whole state."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from hivemind.p2p import PeerID

from core.swarm.errors import BadState
from core.swarm.state.checks import State, layout_of
from core.swarm.state.incoming import StateRequest
from core.swarm.state.transfer import StateTransfer
from core.swarm.state.update_chain import UpdateChain, chain_of


@dataclass(frozen=True)
class MissedUpdate:
    """An update that others made."""

    average: list[torch.Tensor]
    """Of the gradients, before clipping."""
    updates: UpdateChain
    """Of the peer that gave it, this one the last."""


class UpdateTransfer(StateTransfer):
    """The gradient averager's part in catching up. Each peer that can be called keeps the last average."""

    _average: list[torch.Tensor] | None = None
    _offered: tuple[dict[str, Any], list[torch.Tensor]] | None = None

    def keep_average(self) -> None:
        """Copy the average that was just made; the optimizer may clip the averager's own tensors."""
        with torch.no_grad(), self.get_tensors() as tensors:
            self._average = [tensor.detach().clone() for tensor in tensors]

    def offer_update(self, epoch: int, updates: UpdateChain) -> None:
        """Give the kept average to peers that missed it. `epoch` began with it."""
        if self.client_mode or self._average is None:
            return
        metadata = {"epoch": epoch, "updates": msgspec.to_builtins(updates)}
        self._offered, self._average = (metadata, self._average), None
        self.allow_state_sharing = True

    def get_current_state(self) -> Any:
        """What hivemind sends to a peer that asks."""
        metadata, tensors = self._offered or ({}, [])
        return self.announced(metadata, tensors), tensors, self.tensor_infos

    def fetch_update(
        self, donors: Iterable[tuple[PeerID, int]], own: UpdateChain, epoch: int, stop: Callable[[], bool]
    ) -> MissedUpdate | None:
        """The update that `epoch` began with, made on top of this peer's `own` last one; None if no donor gives it."""
        expected, donors = layout_of(self._averaged_tensors), list(donors)
        limits = (expected, 0, epoch, epoch, self.silence)
        request = StateRequest(*limits, own[-1] if own else None, self.witnesses(donors), self.tolerance())

        def checked(state: State) -> MissedUpdate:
            metadata, average = state
            return MissedUpdate(average, _continuation(own, chain_of(metadata.get("updates"))))

        asked = ((donor, request) for donor, announced in donors if announced == epoch)
        return self.first_good(asked, checked, stop)

    async def _declare_for_download_periodically(self) -> None:
        """Donors are those of the state: they need no announcement of their own."""


def _continuation(own: UpdateChain, updates: UpdateChain) -> UpdateChain:
    """`updates`, if all but the last of them led to this peer's state.

    Raises:
        BadState: the update was made on top of another state.
    """
    if not updates or updates[-2:-1] != own[-1:]:
        raise BadState("update_of_other_chain")
    return updates

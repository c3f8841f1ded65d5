"""Passes on the run's last updates: a peer that missed some catches up by their averages instead of the whole state."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
import torch
from hivemind.compression import NoCompression
from hivemind.p2p import PeerID

from core.swarm.errors import BadState
from core.swarm.state.checks import State, bytes_of
from core.swarm.state.incoming import StateRequest
from core.swarm.state.transfer import StateTransfer
from core.swarm.state.update_chain import UpdateChain, chain_of
from core.swarm.state.vouching import asked_epoch


@dataclass(frozen=True)
class MissedUpdate:
    """An update that others made."""

    average: list[torch.Tensor]
    """Of the gradients, before clipping."""
    updates: UpdateChain
    """Of the peer that gave it, this one the last."""


@dataclass(frozen=True)
class _Kept:
    """What this peer gives to those that missed an update."""

    epoch: int
    """It began with the update."""
    updates: Any
    average: torch.Tensor
    """All tensors in a row: each tensor that two processes share takes a descriptor."""


class UpdateTransfer(StateTransfer):
    """The gradient averager's part in catching up. Each peer that can be called keeps the last averages, in as many
    bits as they were averaged in; the averager's own process gives them away."""

    most_kept = 2
    """Averages."""
    _average: torch.Tensor | None = None
    _kept: tuple[_Kept, ...] = ()

    @property
    def average_size(self) -> int:
        """Bytes that an average takes, kept or sent."""
        return sum(bytes_of(tuple(tensor.shape), self._kind) for tensor in self._averaged_tensors)

    @property
    def _kind(self) -> torch.dtype:
        is_exact = isinstance(self.allreduce_kwargs["compression"], NoCompression)
        return torch.float32 if is_exact else torch.float16

    def round_average(self) -> None:
        """Leave as many bits of the average as are kept: who misses the update makes it of the same ones."""
        limits = torch.finfo(self._kind)
        with torch.no_grad(), self.get_tensors() as tensors:
            for tensor in tensors:
                if tensor.dtype != self._kind:
                    tensor.copy_(tensor.clamp(limits.min, limits.max).to(self._kind))

    def keep_average(self) -> None:
        """Copy the average that was just made; the optimizer may clip the averager's own tensors."""
        if self.client_mode:
            return
        with torch.no_grad(), self.get_tensors() as tensors:
            self._average = torch.cat([tensor.detach().flatten().to(self._kind) for tensor in tensors])

    def offer_update(self, epoch: int, updates: UpdateChain) -> None:
        """Give the kept average to peers that missed it. `epoch` began with it."""
        if self._average is None:
            return
        kept, self._average = _Kept(epoch, msgspec.to_builtins(updates), self._average), None
        self._outer_pipe.send(("_keep", [kept, self.most_kept], {}))
        self.allow_state_sharing = True

    async def _keep(self, kept: _Kept, most: int) -> None:
        """Runs in the averager's process, as what follows."""
        self._kept = (*self._kept, kept)[-most:]

    async def _get_current_state_from_host_process(self) -> Any:
        """What hivemind sends to a peer that asks: the update that was asked for, or else the last one."""
        if not self._kept:
            return self.serializer.dumps({}), (), None
        epoch = self._sketched_for(asked_epoch.get())
        kept = next(kept for kept in self._kept if kept.epoch == epoch)
        tensors = self._unpacked(kept.average)
        metadata = await asyncio.to_thread(self.announced, {"epoch": kept.epoch, "updates": kept.updates}, tensors)
        return self.serializer.dumps(metadata), tensors, None

    def _sketched_for(self, epoch: int) -> int:
        """The one that was asked for, or else the last one."""
        kept = [kept.epoch for kept in self._kept]
        return epoch if epoch in kept or not kept else kept[-1]

    def _unpacked(self, average: torch.Tensor) -> list[torch.Tensor]:
        shapes = [tensor.shape for tensor in self._averaged_tensors]
        parts = average.split([shape.numel() for shape in shapes])
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def fetch_update(
        self, donors: Iterable[tuple[PeerID, int]], own: UpdateChain, epoch: int, stop: Callable[[], bool]
    ) -> MissedUpdate | None:
        """The update that `epoch` began with, made on top of this peer's `own` last one; None if no donor gives it."""
        expected, donors = tuple((tuple(tensor.shape), self._kind) for tensor in self._averaged_tensors), list(donors)
        limits = (expected, 0, epoch, epoch, self.silence)
        request = StateRequest(*limits, own[-1] if own else None, self.witnesses(donors), self.tolerance())

        def checked(state: State) -> MissedUpdate:
            metadata, average = state
            return MissedUpdate(average, _continuation(own, chain_of(metadata.get("updates"))))

        asked = ((donor, request) for donor, announced in donors if announced >= epoch)
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

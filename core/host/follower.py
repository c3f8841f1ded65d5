"""The backbone's copy of the run: takes the state over from trainers, evaluates it, and gives it to newcomers."""

from typing import Any

import torch
from hivemind import DHT
from transformers import PreTrainedModel

from core.api.project.manifest import Manifest
from core.learning.optimizers import optimizer_factory, scheduler_factory
from core.swarm.averaging.averagers import CheckedStateAverager, state_prefix
from core.swarm.state.checks import BadState

_DOWNLOAD_TIMEOUT = 120.0


class Follower:
    """Parameters and optimizer state at some epoch. Computes no gradients and joins no averaging round."""

    def __init__(self, dht: DHT, manifest: Manifest, model: PreTrainedModel) -> None:
        self.model = model
        self._averager = CheckedStateAverager(
            dht=dht,
            prefix=state_prefix(manifest.run_id),
            optimizer=optimizer_factory(manifest.training.optimizer),
            params=list(model.parameters()),
            scheduler=scheduler_factory(manifest.training.schedule),
            offload_optimizer=True,
            custom_gradients=True,
            allow_state_sharing=False,
            min_matchmaking_time=manifest.averaging.matchmaking_time,
            request_timeout=manifest.averaging.matchmaking_time * 0.6,
            client_mode=dht.client_mode,
            start=True,
        )
        self._averager.taking_lasts = _DOWNLOAD_TIMEOUT

    @property
    def epoch(self) -> int:
        return int(self._averager.local_epoch)

    def is_alive(self) -> bool:
        return bool(self._averager.is_alive())

    def catch_up(self, known_epoch: int | None = None) -> bool:
        """Take over the newest state that a trainer gives; False if none gives a newer one.

        `known_epoch` is the run's as trainers report it: a state far ahead of it is not believed.
        """
        before = self.epoch
        self._averager.load_state_from_peers(oldest=before + 1, known_epoch=known_epoch)
        if self.epoch <= before:
            return False
        self._share()
        return True

    def tensors(self) -> dict[str, torch.Tensor]:
        """Parameters and optimizer state by name, as a checkpoint keeps them."""
        names = [name for name, _ in self.model.named_parameters()]
        _metadata, tensors = self._averager.snapshot()
        labels = [f"parameter.{name}" for name in names]
        labels += [f"optimizer.{number}" for number in range(len(tensors) - len(names))]
        return {label: tensor.contiguous() for label, tensor in zip(labels, tensors, strict=True)}

    def optimizer_numbers(self) -> list[Any]:
        """What the optimizer's state holds beside tensors, in its own order; plain JSON values."""
        metadata, _tensors = self._averager.snapshot()
        numbers: list[Any] = metadata["optimizer_metadata"]
        return numbers

    def restore(self, epoch: int, tensors: dict[str, torch.Tensor], optimizer_numbers: list[Any]) -> None:
        """Go on from a checkpoint and offer it to newcomers.

        Raises:
            BadState: the checkpoint is of another model.
        """
        expected = self.tensors()
        if set(tensors) != set(expected):
            raise BadState("The state is of another model; it was not used.")
        self._averager.adopt(epoch, optimizer_numbers, [tensors[name] for name in expected])
        self._share()

    def _share(self) -> None:
        """Newcomers ask those with the highest epoch first, so trainers before the backbone."""
        self._averager.state_sharing_priority = self.epoch
        self._averager.allow_state_sharing = True

    def shutdown(self) -> None:
        self._averager.shutdown()

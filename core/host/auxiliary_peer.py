"""The backbone's part in the run: it averages with the trainers, evaluates and keeps their state, and gives it away."""

import copy
import logging
import threading
from collections.abc import Callable
from typing import Any

import torch
from hivemind import DHT
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError
from core.api.project.manifest import Manifest
from core.api.session_settings import Limits
from core.host.project import Host
from core.swarm.averaging.auxiliary import AuxiliaryOptimizer
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.peer import peer_id_of
from core.swarm.errors import BadState, RoundFailed
from core.swarm.liveness import ended, processes_of
from core.swarm.state.checks import State
from core.swarm.traffic.bottleneck import nominal_bandwidth

log = logging.getLogger(__name__)

_PERIOD = 0.1
"""Seconds between two checks whether a round is due."""
_WAIT = 2.0
"""Seconds until a state that no peer gave is asked for again."""
_STOP_TIMEOUT = 10.0
"""Seconds in which a round is left."""


class AuxiliaryPeer(threading.Thread):
    """Runs the optimizer on a thread of its own: a round lasts as long as its slowest member needs. Begin with `start`.

    Must be made on the main thread (hivemind).

    Parameters:
        model: to be evaluated. It changes only in `refresh`; what is averaged is a copy.
        averages: False only takes the state over from trainers, every `evaluate_every` epochs.
    """

    def __init__(
        self,
        dht: DHT,
        manifest: Manifest,
        model: PreTrainedModel,
        settings: Host,
        *,
        averages: bool = True,
        line_bandwidth: Callable[[], float] = nominal_bandwidth,
    ) -> None:
        super().__init__(name="auxiliary peer", daemon=True)
        self.model = model
        self.held = False
        self._stopped = threading.Event()
        self._other_backbones = BackboneMonitor(dht, [peer_id_of(address) for address in settings.extra_peers])
        self._averaged = copy.deepcopy(model)
        self._optimizer = make_optimizer(
            dht=dht,
            run_id=manifest.run_id,
            parameters=self._averaged.parameters(),
            training=manifest.training,
            averaging=manifest.averaging,
            backbone=self._other_backbones,
            yielding=lambda: self.held or self._stopped.is_set(),
            limits=limits_of(settings),
            line_bandwidth=line_bandwidth,
            kind=AuxiliaryOptimizer,
            averages=averages,
            behind=settings.evaluate_every,
        )
        self._processes = processes_of(dht, self._optimizer)

    @property
    def epoch(self) -> int:
        return int(self._optimizer.local_epoch)

    @property
    def is_working(self) -> bool:
        """Whether the thread, the DHT, the averagers and the daemon are alive."""
        return self.is_alive() and ended(self._processes) is None

    def run(self) -> None:
        self._other_backbones.start()
        while not self._stopped.wait(_PERIOD):
            if self.held:
                continue
            try:
                self._optimizer.follow()
            except RoundFailed as error:
                log.info("epoch %d: %s", self.epoch, error)
            except WorldError as error:
                log.warning("epoch %d: %s", self.epoch, error)
                self._stopped.wait(_WAIT)
            except Exception:  # top level of the thread: the main one sees whether a process has ended
                log.exception("epoch %d: the round broke", self.epoch)
                self._stopped.wait(_WAIT)

    def hold(self, held: bool) -> None:
        """Take part in nothing while `held`. From any thread."""
        self.held = held
        if held:
            self._optimizer.interrupt()

    def refresh(self) -> int:
        """Copy the present parameters into `model`; returns their epoch."""
        metadata, tensors = self.snapshot()
        with torch.no_grad():
            for parameter, value in zip(self.model.parameters(), tensors, strict=False):
                parameter.copy_(value)
        return int(metadata["epoch"])

    def snapshot(self) -> State:
        """The state of one epoch. From any thread."""
        return self._optimizer.state_averager.snapshot()

    def named(self, tensors: list[torch.Tensor]) -> dict[str, torch.Tensor]:
        """The tensors of a snapshot by name, as a checkpoint keeps them."""
        names = [name for name, _ in self.model.named_parameters()]
        labels = [f"parameter.{name}" for name in names]
        labels += [f"optimizer.{number}" for number in range(len(tensors) - len(names))]
        return {label: tensor.contiguous() for label, tensor in zip(labels, tensors, strict=True)}

    def restore(self, metadata: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        """Continue from a checkpoint and offer it to newcomers.

        Raises:
            BadState: the checkpoint is of another model.
        """
        expected = self.named(self.snapshot()[1])
        if set(tensors) != set(expected):
            raise BadState("state_of_other_model")
        self._optimizer.resume_from((metadata, [tensors[name] for name in expected]))

    def stop(self) -> None:
        """Leave the rounds; the state stays until `shutdown`."""
        self._stopped.set()
        self._optimizer.interrupt()
        self._other_backbones.stop()
        if self.is_alive():
            self.join(_STOP_TIMEOUT)

    def shutdown(self) -> None:
        self.stop()
        self._optimizer.shutdown()


def limits_of(settings: Host) -> Limits:
    """The ceilings of this backbone, as a volunteer's session has them."""
    return Limits(upload_limit=settings.upload_limit, download_limit=settings.download_limit)

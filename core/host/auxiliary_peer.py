"""The backbone's part in the run: it averages with the trainers, evaluates and keeps their state, and gives it away."""

import copy
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from hivemind import DHT
from transformers.modeling_utils import PreTrainedModel

from core.api.errors import WorldError
from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.session_settings import Limits
from core.host.control import EvaluationStopped
from core.host.project import Host
from core.host.validation import Validation
from core.learning.tasks.task import Evaluation
from core.swarm.averaging.auxiliary import AuxiliaryOptimizer
from core.swarm.averaging.group import Update
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.addresses import peer_id_of
from core.swarm.errors import BadState, ForeignState, RoundFailed
from core.swarm.liveness import ended, processes_of
from core.swarm.state.checks import State
from core.swarm.traffic.bottleneck import nominal_bandwidth
from core.swarm.trust.distrust import Drop
from core.swarm.trust.validation import MOST_LATE, Wanted
from core.system import freed_memory

log = logging.getLogger(__name__)

_PERIOD = 0.1
"""Seconds between two checks whether a round is due."""
_WAIT = 2.0
"""Seconds until a state that no peer gave is asked for again."""
_MOST_WORSE = 1.1
"""Times its own evaluation loss that a state which the backbone takes over may have."""
_BEYOND = 3
"""Epochs by which a state to go back to is ahead of the run: an update may be made meanwhile, and who is one behind
looks for an update first."""
_HOUR = 3600.0
_MOST_DROPS = 256
_RECENT = 1 + MOST_LATE
"""Epochs before the present one whose parameters are kept for validation: those of the last round, and older ones that
its samples may have."""
_STOP_TIMEOUT = 10.0
"""Seconds in which a round is left."""


class AuxiliaryPeer(threading.Thread):
    """Runs the optimizer on a thread of its own: a round lasts as long as its slowest member needs. Begin with `start`.

    Must be made on the main thread (hivemind).

    Parameters:
        model: to be evaluated. It changes only in `refresh`; what is averaged is a copy.
        evaluate: of `model` on held-out data; None if there are none.
        averages: False only takes the state over from trainers, every `evaluate_every` epochs.
    """

    def __init__(
        self,
        dht: DHT,
        manifest: Manifest,
        model: PreTrainedModel,
        settings: Host,
        *,
        evaluate: Callable[[], Evaluation] | None = None,
        averages: bool = True,
        line_bandwidth: Callable[[], float] = nominal_bandwidth,
    ) -> None:
        self.averages = averages
        self.on_update: Callable[[Update], None] = lambda _update: None
        """Called on this thread after each update that this peer has made with others."""
        self.on_drop: Callable[[Drop], None] = lambda _drop: None
        """Called with each peer that this one leaves out. From any thread."""
        super().__init__(name="auxiliary peer", daemon=True)
        self.model = model
        self._evaluate, self._evaluating = evaluate, threading.Lock()
        self._returning_to: State | None = None
        self.validation: Validation | None = None
        self._recent: dict[int, list[torch.Tensor]] = {}
        self._watching: Wanted | None = None
        self.held = False
        self._stopped = threading.Event()
        self._drops: deque[Drop] = deque(maxlen=_MOST_DROPS)
        self._other_backbones = BackboneMonitor(dht, [peer_id_of(address) for address in settings.extra_peers])
        self._averaged = copy.deepcopy(model)
        self._optimizer = make_optimizer(
            dht=dht,
            run_id=manifest.run_id,
            parameters=self._averaged.parameters(),
            training=manifest.training,
            averaging=manifest.averaging,
            backbone=self._other_backbones,
            on_update=self._tell_of_update,
            yielding=lambda: self.held or self._stopped.is_set(),
            limits=limits_of(settings),
            line_bandwidth=line_bandwidth,
            most_members=settings.largest_group,
            kind=AuxiliaryOptimizer,
            on_drop=self._note_drop,
            averages=averages,
            behind=settings.evaluate_every,
            approve=self._approve,
        )
        self._processes = processes_of(dht, self._optimizer)

    @property
    def epoch(self) -> int:
        return int(self._optimizer.local_epoch)

    @property
    def is_one_group(self) -> bool:
        """Whether all peers of the run average together."""
        return self._optimizer.is_one_group

    @property
    def is_working(self) -> bool:
        """Whether the thread, the DHT, the averagers and the daemon are alive."""
        return self.is_alive() and ended(self._processes) is None

    def drops(self, now: float) -> list[Drop]:
        """Peers that were dropped within the hour before `now`, UTC seconds; the latest ones if there are many."""
        return [drop for drop in list(self._drops) if drop.at > now - _HOUR]

    def _note_drop(self, drop: Drop) -> None:
        log.warning("%s", drop.message)
        self._drops.append(drop)
        self.on_drop(drop)

    def run(self) -> None:
        self._other_backbones.start()
        while not self._stopped.wait(_PERIOD):
            if self.held:
                continue
            try:
                if self._returning_to is None:
                    self._optimizer.follow()
                    self._validate()
                else:
                    self._return_to(self._returning_to)
            except (RoundFailed, EvaluationStopped) as error:
                log.info("epoch %d: %s", self.epoch, error)
            except WorldError as error:
                log.warning("%s", Message("host_epoch_failed", {"epoch": self.epoch, "problem": error.message}))
                self._stopped.wait(_WAIT)
            except Exception:  # top level of the thread: the main one sees whether a process has ended
                log.exception("epoch %d: the round broke", self.epoch)
                self._stopped.wait(_WAIT)

    def _validate(self) -> None:
        """Keep the parameters of the latest epochs, and hand over what was seen of a trainer."""
        if self.validation is None:
            return
        epoch, averager = self.epoch, self._optimizer.grad_averager
        if epoch not in self._recent:
            values = [value.detach().clone() for value in self._optimizer.state_averager.main_parameters]
            kept = {known: values for known, values in self._recent.items() if epoch - _RECENT <= known < epoch}
            self._recent = {**kept, epoch: values}
        if not self._optimizer.is_one_group:
            # The parameters of other groups are others.
            self._recent = {}
        for evidence in averager.read_evidence():
            self.validation.offer(evidence, self._recent)
        if self.validation.wanted != self._watching:
            self._watching = self.validation.wanted
            averager.watch(self._watching)

    def ban(self, peer: str, until: float, now: float) -> None:
        """Take a peer into no group whose gradients are not those of its samples. From any thread."""
        self._optimizer.distrust.ban(peer, "gradient_wrong", until, now)

    def _tell_of_update(self, update: Update) -> None:
        self.on_update(update)

    def hold(self, held: bool) -> None:
        """Take part in nothing while `held`. From any thread."""
        self.held = held
        if held:
            self._optimizer.interrupt()

    @property
    def is_going_back(self) -> bool:
        return self._returning_to is not None

    def go_back(self, metadata: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        """Give the whole run a checkpoint, as the state of an epoch that nobody has reached, and nobody the present
        state any more. From any thread."""
        self._returning_to = metadata, [tensors[name] for name in self.named(self.snapshot()[1])]
        self._optimizer.state_averager.allow_state_sharing = False
        self._optimizer.interrupt()

    def _return_to(self, state: State) -> None:
        reached = max(self.epoch, self._optimizer.tracker.global_epoch)
        try:
            self._optimizer.resume_from(state, as_epoch=reached + _BEYOND)
        finally:
            self._returning_to = None

    def evaluated(self) -> tuple[State, Evaluation | None]:
        """The present state and how it does on held-out data; `model` then has its parameters. From any thread."""
        state = self.snapshot()
        return state, self._evaluation_of(state)

    def _evaluation_of(self, state: State) -> Evaluation | None:
        with self._evaluating:
            with torch.no_grad():
                for parameter, value in zip(self.model.parameters(), state[1], strict=False):
                    parameter.copy_(value)
            found = self._evaluate() if self._evaluate is not None else None
        # It is seldom done.
        freed_memory.give_back()
        return found

    def _approve(self, state: State) -> None:
        """Everybody trusts the backbone's state: whatever others say of the state, it must not be far worse."""
        (_, own), offered = self.evaluated(), self._evaluation_of(state)
        if own is not None and offered is not None and not offered.loss <= _MOST_WORSE * own.loss:
            raise ForeignState("state_evaluates_worse", epoch=state[0]["epoch"], loss=offered.loss, own=own.loss)

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
        if self.validation is not None:
            self.validation.stop()
        self._optimizer.shutdown()


def limits_of(settings: Host) -> Limits:
    """The ceilings of this backbone, as a volunteer's session has them."""
    return Limits(upload_limit=settings.upload_limit, download_limit=settings.download_limit)

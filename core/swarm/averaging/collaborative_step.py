"""One collaborative step: hivemind's, which here never passes local gradients off as the swarm's."""

import os
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import hivemind
from hivemind.averaging.control import AveragingStage, StepControl
from hivemind.compression import NoCompression

from core.api.errors import WorldError
from core.swarm.averaging.averagers import CheckedStateAverager, EpochGradientAverager, group_of, state_prefix
from core.swarm.dht.backbone_monitor import BackboneMonitor
from core.swarm.dht.progress_tracker import SwarmProgressTracker
from core.swarm.state.fork_detection import ForkDetector

_NEVER = 1 << 62
_LOOK_EVERY = 1.0
"""Seconds between two looks at the others' progress while a group is searched for."""
WITHOUT_GROUP = (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP)
"""Stages in which nobody counts on this peer: the first lasts until the averager's process has taken the round up."""


class RoundFailed(WorldError):
    """Gradients could not be averaged: nothing was stepped, and the samples wait for the next round of this epoch."""


class Interrupted(RoundFailed):
    """This peer is to stop and gave up its search for a group, or for a state."""


class Isolated(WorldError):
    """No peer and no backbone in reach: going on would be training alone by accident."""


class StateUnavailable(WorldError):
    """No peer gave a usable state."""


@dataclass(frozen=True)
class Update:
    """One optimizer step of the collaboration, as this peer took part in it."""

    epoch: int
    """The epoch that begins with it."""
    own_samples: int
    """Of this peer, averaged into the step."""
    group_size: int
    """Peers in the averaging round, auxiliary ones too; 1 when this peer is legitimately alone."""
    partners: frozenset[str] = frozenset()
    """The ids of the other trainers in the group."""


class CollaborativeStep(hivemind.Optimizer):
    """DeDLOC's training step (NeurIPS 2021, section 3): accumulate, average, step.

    Parameters beside hivemind's own:
        backbone: the run's backbone. Asked before this peer steps without others.
        on_update: called after each step of the collaboration.
        yielding: whether this peer is to stop computing: it then begins no round, and `interrupt` ends a search.
        extrapolate: see `SwarmProgressTracker`.
        group_options: of both averagers, as hivemind names them.
    """

    tracker: SwarmProgressTracker
    state_averager: CheckedStateAverager
    scheduled_grads: StepControl | None
    scheduled_state: StepControl | None
    _adds_samples = True
    _averages = True

    def __init__(
        self,
        *,
        backbone: BackboneMonitor,
        on_update: Callable[[Update], None],
        yielding: Callable[[], bool],
        extrapolate: bool,
        group_options: dict[str, Any],
        **options: Any,
    ) -> None:
        self._group_options = group_options
        self._is_exact = isinstance(options["grad_compression"], NoCompression)
        self._backbone = backbone
        self._on_update = on_update
        self._yielding = yielding
        self._gave_up = False
        self._extrapolate = extrapolate
        self._stepping = False
        self._group_size, self._partners = 1, frozenset[str]()
        self._is_alone = False
        super().__init__(**options)
        self._forks = ForkDetector(
            self.dht, self.run_id, gives=not self.client_mode, is_one_group=lambda: self._is_one_group
        )
        self._forks.start()

    # -- construction ------------------------------------------------------------------------------------------

    def _make_progress_tracker(self, target_batch_size: int, **options: Any) -> SwarmProgressTracker:
        return SwarmProgressTracker(
            dht=self.dht,
            prefix=self.run_id,
            target_batch_size=target_batch_size,
            client_mode=self.client_mode,
            status_loglevel=self.status_loglevel,
            extrapolate=self._extrapolate,
            organiser=lambda: self._backbone.run_epoch,
            start=True,
            **options,
        )

    def _make_gradient_averager(self, _factory: None, **options: Any) -> EpochGradientAverager:
        def make(**more: Any) -> EpochGradientAverager:
            options = {**more, "start": self._averages, "adds_samples": self._adds_samples, **self._averager_options}
            return EpochGradientAverager(epoch=lambda: self.local_epoch, **options)

        averager: EpochGradientAverager = super()._make_gradient_averager(make, **options)
        return averager

    def _make_state_averager(self, **options: Any) -> CheckedStateAverager:
        return CheckedStateAverager(
            dht=self.dht,
            prefix=state_prefix(self.run_id),
            min_matchmaking_time=self.matchmaking_time,
            allreduce_timeout=self.allreduce_timeout,
            shutdown_timeout=self.shutdown_timeout,
            offload_optimizer=self.offload_optimizer,
            custom_gradients=self.offload_optimizer,
            status_loglevel=self.status_loglevel,
            next_chunk_timeout=self.next_chunk_timeout,
            client_mode=self.client_mode,
            auxiliary=self.auxiliary,
            start=True,
            **self._averager_options,
            **options,
        )

    @property
    def _averager_options(self) -> dict[str, Any]:
        """Of both averagers."""
        return {**self._group_options, "expected_peers": lambda: self.tracker.expected_peers}

    @property
    def _is_one_group(self) -> bool:
        """Whether all peers average together."""
        return bool(self.tracker.global_progress.num_peers <= self._group_options["target_group_size"])

    @property
    def average_state_every(self) -> int:
        """Epochs between two averagings of parameters and optimizer state.

        Where nothing is lost on the way and all average together, they have the same state, and the watch for forks
        brings back who has not: to average it would cost a second round and change its last bits.
        """
        return _NEVER if self._is_exact and self._is_one_group else self._average_state_every

    @average_state_every.setter
    def average_state_every(self, epochs: int) -> None:
        self._average_state_every = epochs

    # -- the step ----------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Do what the collaboration asks for without adding samples: load state, join a round, step."""
        self.state_averager.step(apply_delayed_updates=True)
        if self._should_load_state_from_peers():
            self.load_state_from_peers()
            return
        self._maybe_schedule_gradient_averaging()
        self._maybe_schedule_state_averaging()
        if self.tracker.ready_to_update_epoch:
            self._update_global_epoch(None)

    def _update_global_epoch(self, grad_scaler: Any) -> None:
        if self._yielding():
            return
        self._is_alone = self._check_if_alone()
        if not self.tracker.ready_to_update_epoch or self._is_alone_too_early():
            return
        if self._missed_the_round() or self._forks.canonical_fork() is not None:
            self.load_state_from_peers()
            return
        own_samples = self.own_samples
        self._group_size, self._partners = 1, frozenset()
        self._stepping, self._gave_up = True, False
        try:
            super()._update_global_epoch(grad_scaler)
        except RoundFailed:
            self._forget_round()
            # Others may have made this update meanwhile.
            self.tracker.refresh()
            raise
        finally:
            self._stepping = False
        self.tracker.add_round(self._partners, is_one_group=self._is_one_group)
        self._publish_update()
        self._on_update(Update(self.local_epoch, own_samples, self._group_size, self._partners))

    def _publish_update(self) -> None:
        self._forks.tell(self.state_averager.trail)
        self.grad_averager.offer_update(self.local_epoch, self.state_averager.trail)

    def _check_if_alone(self) -> bool:
        """Whether the run consists of this peer.

        Raises:
            Isolated: nobody else is in sight, and the backbone cannot be asked whether that is so; or this peer only
                calls others, and there is none to call. Alone, it would train for nobody: its state cannot be fetched.
        """
        if self.client_mode and not self.tracker.others_can_be_reached:
            self.tracker.refresh()
            if not self.tracker.others_can_be_reached:
                raise Isolated("no_peer_with_open_port")
        if self.tracker.global_progress.num_peers > 1:
            return False
        if not self._backbone.ask():
            raise Isolated("no_peers")
        # Who was cut off a moment ago sees the others only now.
        self.tracker.refresh()
        return bool(self.tracker.global_progress.num_peers <= 1)

    def _is_alone_too_early(self) -> bool:
        """The estimate of the epoch's end counts on others, and on samples of some who left."""
        samples = int(self.grad_averager.local_samples_accumulated)
        return (
            self._is_alone
            and self.tracker.global_epoch <= self.local_epoch
            and samples < self.tracker.target_batch_size
        )

    def _missed_the_round(self) -> bool:
        """Others have already stepped and this peer is in no group: a round joined now could only time out."""
        if self.tracker.global_epoch <= self.local_epoch:
            return False
        control = self.scheduled_grads
        return control is None or control.done() or control.stage in WITHOUT_GROUP

    def _begin_averaging_gradients(self, grad_scaler: Any) -> bool:
        began = bool(super()._begin_averaging_gradients(grad_scaler))
        if not began and (not self._is_alone or self.tracker.global_progress.num_peers > 1):
            raise RoundFailed("The averaging round could not be started.")
        if self._yielding():
            # Asked for just before there was a search to end.
            self.interrupt()
        return began

    def _average_gradients_and_load_into_optimizer(self, maybe_step_control: StepControl | None) -> None:
        if maybe_step_control is not None:
            self._wait_for_group(maybe_step_control)
        super()._average_gradients_and_load_into_optimizer(maybe_step_control)
        if maybe_step_control is not None:
            gathered = maybe_step_control.result(0)
            group = group_of(gathered, self.local_epoch)
            if group is None:
                raise RoundFailed("Another peer brought gradients of another epoch.")
            self.grad_averager.keep_average()
            self.state_averager.brought = group.numbers
            self._group_size = len(gathered)
            self._partners = group.trainers - {str(self.dht.peer_id)}

    def _wait_for_group(self, control: StepControl) -> None:
        """Give the search up once others have made this update."""
        while control.stage in WITHOUT_GROUP and not control.done():
            with suppress(TimeoutError, CancelledError):
                control.exception(_LOOK_EVERY)
            if control.stage in WITHOUT_GROUP and not control.done():
                if self.tracker.others_are_ahead():
                    control.cancel()
                else:
                    # Some may have left, and others may have come.
                    self.grad_averager.update_expected_peers()

    def _load_local_gradients_into_optimizer(self) -> None:
        """hivemind falls back to local gradients here, unasked and unseen; with peers around that forks the run.

        They may be around although they can no longer be seen: their records ended while the group was looked for.
        """
        if self._gave_up:
            raise Interrupted("The search for a group was given up.")
        if not self._is_alone or self.tracker.global_progress.num_peers > 1:
            raise RoundFailed("The averaging round did not complete.")
        self.state_averager.brought = (os.urandom(8),)
        super()._load_local_gradients_into_optimizer()
        self.grad_averager.keep_average()

    def _forget_round(self) -> None:
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.grad_averager.drop_rounds()
        self.grad_averager.notify_used_averaged_gradients()

    @staticmethod
    def _release(control: StepControl | None) -> None:
        """Give up a pending round: cancel the search, but tag along with no weight once a group counts on this peer."""
        if control is None or control.done():
            return
        if control.stage in WITHOUT_GROUP:
            control.cancel()
        elif not control.triggered:
            control.weight = 0.0
            control.allow_allreduce()

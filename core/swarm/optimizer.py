"""One collaborative step: hivemind's Optimizer, which here never passes local gradients off as the swarm's."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hivemind
import torch
from hivemind.averaging.control import AveragingStage, StepControl

from core.api.errors import WorldError
from core.api.preferences import Limits
from core.api.snapshot import Phase
from core.swarm import line_speed
from core.swarm.averagers import CheckedStateAverager, EpochGradientAverager, state_prefix
from core.swarm.state_checks import is_still_present
from core.swarm.tracker import SwarmTracker

_WITHOUT_GROUP = (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP)
"""Stages in which nobody counts on this peer: the first lasts until the averager's process has taken the round up."""


class RoundFailed(WorldError):
    """Gradients could not be averaged: nothing was stepped, the samples of this epoch are lost to the swarm."""


class Interrupted(RoundFailed):
    """This peer is to stop and gave up its search for a group, or for a state: nothing was stepped, and its samples are
    kept."""


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
    """Peers in the averaging round; 1 when this peer is legitimately alone."""
    partners: frozenset[str] = frozenset()
    """The ids of the others in the group."""


class CollaborativeOptimizer(hivemind.Optimizer):
    """DeDLOC's training step (NeurIPS 2021, section 3): accumulate, average, step.

    Parameters beside hivemind's own:
        in_company: whether the run's backbone can be reached. Asked before this peer steps without others.
        on_update: called after each step of the collaboration.
        yielding: whether this peer is to stop computing: it then begins no round, and `interrupt` ends a search.
        extrapolate: see `SwarmTracker`.
        group_options: of both averagers, as hivemind names them.
    """

    tracker: SwarmTracker
    state_averager: CheckedStateAverager
    scheduled_grads: StepControl | None
    scheduled_state: StepControl | None

    def __init__(
        self,
        *,
        in_company: Callable[[], bool],
        on_update: Callable[[Update], None],
        yielding: Callable[[], bool],
        extrapolate: bool,
        group_options: dict[str, Any],
        **options: Any,
    ) -> None:
        self._group_options = group_options
        self._in_company = in_company
        self._on_update = on_update
        self._yielding = yielding
        self._gave_up = False
        self._extrapolate = extrapolate
        self._stepping = False
        self._group_size, self._partners = 1, frozenset[str]()
        super().__init__(**options)
        self._state_size = self.state_averager.state_size()

    # -- construction ------------------------------------------------------------------------------------------

    def _make_progress_tracker(self, target_batch_size: int, **options: Any) -> SwarmTracker:
        return SwarmTracker(
            dht=self.dht,
            prefix=self.run_id,
            target_batch_size=target_batch_size,
            client_mode=self.client_mode,
            status_loglevel=self.status_loglevel,
            extrapolate=self._extrapolate,
            start=True,
            **options,
        )

    def _make_gradient_averager(self, _factory: None, **options: Any) -> EpochGradientAverager:
        def make(**more: Any) -> EpochGradientAverager:
            return EpochGradientAverager(epoch=lambda: self.local_epoch, **self._group_options, **more)

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
            **self._group_options,
            **options,
        )

    # -- what a window shows -----------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        """What the collaboration waits for, seen from this peer. Safe to read from any thread."""
        if not self._stepping:
            return "accumulating"
        control = self.scheduled_grads
        if control is None or control.done():
            return "updating"
        return "averaging" if control.stage == AveragingStage.RUNNING_ALLREDUCE else "finding_group"

    @property
    def own_samples(self) -> int:
        """Accumulated by this peer towards the next update."""
        return int(self.grad_averager.local_samples_accumulated)

    @property
    def is_in_company(self) -> bool:
        """Whether another peer or the backbone is in reach."""
        return bool(self.tracker.global_progress.num_peers > 1 or self._in_company())

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
        if not self.is_in_company:
            raise Isolated("Neither the project's backbone nor another peer can be reached.")
        if self._missed_the_round():
            self.load_state_from_peers()
            return
        own_samples = self.own_samples
        self._group_size, self._partners = 1, frozenset()
        self._stepping, self._gave_up = True, False
        try:
            super()._update_global_epoch(grad_scaler)
        except Interrupted:
            self._take_back(own_samples)
            raise
        except RoundFailed:
            self._forget_round()
            raise
        finally:
            self._stepping = False
        self._on_update(Update(self.local_epoch, own_samples, self._group_size, self._partners))

    def _missed_the_round(self) -> bool:
        """Others have already stepped and this peer is in no group: a round joined now could only time out."""
        if self.tracker.global_epoch <= self.local_epoch:
            return False
        control = self.scheduled_grads
        return control is None or control.done() or control.stage in _WITHOUT_GROUP

    def _begin_averaging_gradients(self, grad_scaler: Any) -> bool:
        began = bool(super()._begin_averaging_gradients(grad_scaler))
        if not began and self.tracker.global_progress.num_peers > 1:
            raise RoundFailed("The averaging round could not be started.")
        if self._yielding():
            # Asked for just before there was a search to end.
            self.interrupt()
        return began

    def _average_gradients_and_load_into_optimizer(self, maybe_step_control: StepControl | None) -> None:
        super()._average_gradients_and_load_into_optimizer(maybe_step_control)
        if maybe_step_control is not None:
            epochs = maybe_step_control.result(0)
            if any(epoch != self.local_epoch for epoch in epochs.values()):
                raise RoundFailed("Another peer brought gradients of another epoch.")
            self._group_size = len(epochs)
            self._partners = frozenset(str(peer) for peer in epochs if peer != self.dht.peer_id)

    def _load_local_gradients_into_optimizer(self) -> None:
        """hivemind falls back to local gradients here, unasked and unseen; with peers around that forks the run."""
        if self._gave_up:
            raise Interrupted("The search for a group was given up.")
        if self.tracker.global_progress.num_peers > 1:
            raise RoundFailed("The averaging round did not complete.")
        super()._load_local_gradients_into_optimizer()

    def _forget_round(self) -> None:
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.grad_averager.notify_used_averaged_gradients()
        self.grad_averager.reset_accumulated_grads_()
        self.tracker.report_local_progress(self.local_epoch, samples_accumulated=0)

    # -- state from peers --------------------------------------------------------------------------------------

    def load_state_from_peers(self, **_options: Any) -> None:
        """Take over the newest state that a peer gives, once, each donor within its time limit.

        hivemind retries for ever, and a retry can start a second download beside the first; here the caller decides.

        Raises:
            Interrupted: this peer is to stop, and dropped what was on its way.
            StateUnavailable: no peer gave one in time.
        """
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.state_averager.step(wait_for_delayed_updates=True)
        with self.tracker.pause_updates():
            known = self.tracker.reported_epoch
            self.state_averager.load_state_from_peers(oldest=known or 0, known_epoch=known, stop=self._yielding)
            if not self.state_averager.state_was_loaded:
                if self._yielding():
                    raise Interrupted("Asked to stop while the state was on its way.")
                raise StateUnavailable("No peer gives away the present state of the run.")
            self._begin_epoch()

    def resume_from(self, epoch: int, optimizer_numbers: list[Any], tensors: list[torch.Tensor]) -> None:
        """Go on from a state that was kept, of whatever epoch; a run that is ahead of it is caught up with later.

        Raises:
            BadState: it is not one of this run.
        """
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.state_averager.step(wait_for_delayed_updates=True)
        with self.tracker.pause_updates():
            self.state_averager.adopt(epoch, optimizer_numbers, tensors)
            self._begin_epoch()

    def _begin_epoch(self) -> None:
        self.tracker.report_local_progress(self.local_epoch, samples_accumulated=0)
        self.grad_averager.reset_accumulated_grads_()
        self.share_state_as(self.local_epoch)

    @property
    def run_epoch(self) -> int:
        """Of the run, as far as others tell."""
        offered = max((epoch for _, epoch in self.state_averager.donors()), default=0)
        return self.tracker.reported_epoch if self.tracker.reported_epoch is not None else offered

    def is_present(self, epoch: int) -> bool:
        """Whether a state of `epoch` is that of the run now."""
        offered = max((epoch for _, epoch in self.state_averager.donors()), default=None)
        return is_still_present(epoch, self.tracker.reported_epoch, offered)

    def share_state_as(self, epoch: int) -> None:
        """Newcomers ask the peer with the highest epoch first."""
        if not self.client_mode:
            self.state_averager.state_sharing_priority = epoch

    # -- the line ----------------------------------------------------------------------------------------------

    def fit_to(self, limits: Limits) -> None:
        """Follow changed ceilings from the next round on."""
        bandwidth = line_speed.bandwidth(limits)
        self.grad_averager.bandwidth = self.state_averager.bandwidth = bandwidth
        self.limit_state(limits)

    def limit_state(self, limits: Limits) -> None:
        """Give a state that is on its way, or will be, the time that the ceilings ask for. From any thread."""
        self.state_averager.taking_lasts = line_speed.state_timeout(self._state_size, limits.download_limit)
        self.state_averager.limit_giving(line_speed.state_timeout(self._state_size, limits.upload_limit))

    # -- pausing -----------------------------------------------------------------------------------------------

    def hold(self) -> None:
        """Stop counting as somebody who adds samples, and let go of a round that has not begun. Does not block."""
        self.let_go()
        self.tracker.hold(True, self.own_samples)

    def let_go(self) -> None:
        """Give up every round that has not begun. To be called again while held: a group that breaks up looks for
        another one, and a search costs as much of the processor as training."""
        # Not only what is scheduled: a round of the state goes on in the background.
        self._release(self.grad_averager.last_round)
        self._release(self.state_averager.last_round)
        self.scheduled_grads = self.scheduled_state = None

    def resume(self) -> None:
        """Count again; samples from before the pause still do if the epoch has not moved on."""
        self.tracker.hold(False, self.own_samples)

    def interrupt(self) -> None:
        """Give up a search for a group that `step` waits for; the step then raises Interrupted. From any thread."""
        control = self.scheduled_grads
        if control is not None and not control.done() and control.stage in _WITHOUT_GROUP:
            self._gave_up = True
            control.cancel()

    def _take_back(self, samples: int) -> None:
        """Accumulate again what was handed over to a round that did not begin: the mean of `samples` gradients."""
        averager = self.grad_averager
        with torch.no_grad(), averager.get_tensors() as means:
            for total, mean in zip(averager._grad_accumulators(), means, strict=True):
                total.copy_(mean)
        averager.restore_accumulated(samples)
        averager.notify_used_averaged_gradients()
        self.scheduled_grads = None

    @staticmethod
    def _release(control: StepControl | None) -> None:
        """Give up a pending round: cancel the search, but tag along with no weight once a group counts on this peer."""
        if control is None or control.done():
            return
        if control.stage in _WITHOUT_GROUP:
            control.cancel()
        elif not control.triggered:
            control.weight = 0.0
            control.allow_allreduce()

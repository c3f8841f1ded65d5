"""The optimizer of a run as a session uses it: the collaborative step, the run's state, and a volunteer's limits."""

from typing import Any

import torch
from hivemind.averaging.control import AveragingStage

from core.api.session_settings import Limits
from core.api.snapshot import Phase
from core.swarm.averaging import bandwidth as line_speed
from core.swarm.averaging.collaborative_step import WITHOUT_GROUP, CollaborativeStep, Interrupted, StateUnavailable
from core.swarm.state.checks import is_still_present


class CollaborativeOptimizer(CollaborativeStep):
    """What a session does with its part in the run, besides to compute. Takes the arguments of `CollaborativeStep`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._state_size = self.state_averager.state_size()

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
        """Whether another peer or the backbone is in reach; for one that only calls others, a peer that listens."""
        if self.client_mode:
            return bool(self.tracker.others_can_be_reached)
        return bool(self.tracker.global_progress.num_peers > 1 or self._backbone.is_near())

    # -- state from peers --------------------------------------------------------------------------------------

    def load_state_from_peers(self, **_options: Any) -> None:
        """Catch up with the run: by the update that this peer missed if it is only one, else by the newest state that a
        peer gives, once, each donor within its time limit.

        hivemind retries for ever, and a retry can start a second download beside the first; here the caller decides.

        Raises:
            Interrupted: this peer is to stop, and dropped what was on its way.
            StateUnavailable: no peer gave one in time.
        """
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.state_averager.step(wait_for_delayed_updates=True)
        canonical_fork = self._forks.canonical_fork()
        # A peer that was stopped or asleep knows only how far the run was then.
        self.tracker.refresh()
        if canonical_fork is None and self._make_missed_update():
            return
        with self.tracker.pause_updates():
            known = self.tracker.reported_epoch
            self.state_averager.load_state_from_peers(
                oldest=0 if canonical_fork is not None else known or 0,
                known_epoch=known,
                stop=self._yielding,
                canonical_fork=canonical_fork,
            )
            if self.state_averager.state_was_loaded:
                self._begin_epoch()
            elif self._yielding():
                raise Interrupted("Asked to stop while the state was on its way.")
            elif canonical_fork is not None:
                # Going on beside the run is no good, but better than to stop; the next update shows where it is.
                self._forks.forget_canonical_fork()
            else:
                self.tracker.add_failed_load()
                raise StateUnavailable("state_unavailable")

    def _make_missed_update(self) -> bool:
        """Step with the average that others made without this peer; its own samples count in the next update."""
        epoch, own_samples = self.local_epoch + 1, self.own_samples
        if self.tracker.global_epoch != epoch:
            return False
        with self.tracker.pause_updates():
            averager, donors = self.grad_averager, self.state_averager.donors()
            missed = averager.fetch_update(donors, self.state_averager.trail, epoch, self._yielding)
            if missed is None:
                return False
            averager.load(missed.average)
            averager.keep_average()
            self.state_averager.step(increment_epoch=True, optimizer_step=True)
            self.state_averager.trail = missed.updates
            self.tracker.update_epoch(self.local_epoch)
        self.tracker.report_unmeasured(self.local_epoch, own_samples)
        self.share_state_as(self.local_epoch)
        self._publish_update()
        return True

    def _should_load_state_from_peers(self) -> bool:
        """Not yet when the others have only just made an update: this peer may still be in their group."""
        return self._forks.canonical_fork() is not None or self.local_epoch < self.tracker.global_epoch - 1

    def resume_from(
        self, epoch: int, optimizer_numbers: list[Any], tensors: list[torch.Tensor], trail: Any = ()
    ) -> None:
        """Go on from a state that was kept, of whatever epoch; a run that is ahead of it is caught up with later.

        Raises:
            BadState: it is not one of this run.
        """
        self._release(self.scheduled_grads)
        self.scheduled_grads = None
        self.state_averager.step(wait_for_delayed_updates=True)
        with self.tracker.pause_updates():
            self.state_averager.adopt(epoch, optimizer_numbers, tensors, trail)
            self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._forks.tell(self.state_averager.trail)
        self.tracker.report_local_progress(self.local_epoch, samples_accumulated=0)
        self.grad_averager.reset_accumulated_grads_()
        self.share_state_as(self.local_epoch)

    @property
    def run_epoch(self) -> int:
        """Of the run, as far as others tell now."""
        self.tracker.refresh()
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
        self.state_averager.receive_timeout = line_speed.state_timeout(self._state_size, limits.download_limit)
        self.state_averager.limit_sending(line_speed.state_timeout(self._state_size, limits.upload_limit))

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
        if control is not None and not control.done() and control.stage in WITHOUT_GROUP:
            self._gave_up = True
            control.cancel()

    def shutdown(self) -> None:
        """Leave the run."""
        self._forks.stop()
        super().shutdown()

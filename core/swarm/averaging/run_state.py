"""Keeps this peer's state that of its run: by the updates that it missed, or by the state of another peer."""

import time
from collections.abc import Callable

from core.api.session_settings import Limits
from core.swarm.all_reduce.bandwidth import state_timeout
from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.state_averager import CheckedStateAverager
from core.swarm.dht.progress.progress_tracker import SwarmProgressTracker
from core.swarm.errors import Interrupted, RunTooFast, StateUnavailable
from core.swarm.state.checks import State, is_still_present
from core.swarm.state.fork_detection import ForkDetector
from core.swarm.state.update_chain import CanonicalFork

_MOST_LATE = 3
"""Times that this peer may catch up with a run that is then as far ahead again as it was before."""


class RunState:
    """Of one optimizer, for its thread.

    Parameters:
        share_state: called with the epoch of each state that was taken over, to offer it to newcomers.
        stop: whether this peer is to stop computing.
    """

    def __init__(
        self,
        tracker: SwarmProgressTracker,
        gradients: EpochGradientAverager,
        state: CheckedStateAverager,
        forks: ForkDetector,
        *,
        share_state: Callable[[int], None],
        stop: Callable[[], bool],
    ) -> None:
        self._tracker, self._gradients, self._state, self._forks = tracker, gradients, state, forks
        self._share_state, self._stop = share_state, stop
        self.size = state.state_size()
        """Bytes."""
        self.most_missed = max(1, self.size // gradients.average_size)
        """Updates that are fetched in place of the state: more would take longer."""
        self._times_late = self._behind_before = 0

    @property
    def has_forked(self) -> bool:
        """Whether the run went on from another update than this peer."""
        return self._forks.canonical_fork is not None

    @property
    def is_outdated(self) -> bool:
        """Not yet when the others have only just made an update: this peer may still be in their group."""
        return self.has_forked or self._state.local_epoch < self._tracker.global_epoch - 1

    @property
    def run_epoch(self) -> int:
        """The run's epoch, as far as others report it now."""
        self._tracker.refresh()
        reported = self._tracker.reported_epoch
        return reported if reported is not None else self._offered_epoch or 0

    @property
    def is_unbegun(self) -> bool:
        """Whether no update was made yet, as far as anybody tells: every peer makes the initial parameters itself."""
        self._tracker.refresh()
        return self._tracker.is_unbegun and not self._offered_epoch

    def is_present(self, epoch: int) -> bool:
        """Whether a state of `epoch` is that of the run now."""
        return is_still_present(epoch, self._tracker.reported_epoch, self._offered_epoch)

    def limit_transfer(self, limits: Limits) -> None:
        """Give present and later transfers of state the time that the ceilings require. From any thread."""
        self._state.receive_timeout = state_timeout(self.size, limits.download_limit)
        self._state.limit_sending(state_timeout(self.size, limits.upload_limit))

    def load(self) -> None:
        """Make the missed updates if they are few, else take the newest state that a peer gives, once, and then make
        those that the others have made meanwhile.

        hivemind retries for ever, and a retry can start a second download beside the first; here the caller decides.

        Raises:
            Interrupted: this peer is to stop, and dropped the download.
            RunTooFast: what arrives is always outdated. Trying on would fill this peer's line and the donors'.
            StateUnavailable: no peer gave one in time.
        """
        self._state.step(wait_for_delayed_updates=True)
        fork = self._forks.canonical_fork
        # A peer that was stopped or asleep knows only how far the run was then.
        self._tracker.refresh()
        begin = time.monotonic()
        if fork is not None or not self._make_missed_updates():
            self._fetch_state(fork)
            self._tracker.refresh()
            self._make_missed_updates()
        self._check_pace(time.monotonic() - begin)

    def _fetch_state(self, fork: CanonicalFork | None) -> None:
        with self._tracker.pause_updates():
            known = self._tracker.reported_epoch
            oldest = 0 if fork is not None else known or 0
            self._state.load_state_from_peers(oldest=oldest, known_epoch=known, stop=self._stop, canonical_fork=fork)
            if self._state.state_was_loaded:
                self._begin_epoch()
            elif self._stop():
                raise Interrupted("download_interrupted")
            elif fork is not None:
                # Going on beside the run is no good, but better than to stop; the next update shows where it is.
                self._forks.canonical_fork = None
            else:
                self._tracker.add_failed_load()
                raise StateUnavailable("state_unavailable")

    def _check_pace(self, seconds: float) -> None:
        self._tracker.refresh()
        behind = self._behind
        if not behind:
            self._times_late = 0
        elif behind >= self._behind_before:
            self._times_late += 1
        self._behind_before = behind
        if self._times_late >= _MOST_LATE:
            raise RunTooFast("run_too_fast", size=self.size, seconds=seconds)

    @property
    def _behind(self) -> int:
        """Updates that the others have made without this peer."""
        return max(0, int(self._tracker.global_epoch) - self._state.local_epoch)

    def resume_from(self, state: State, as_epoch: int | None = None) -> None:
        """Continue from a state that was kept, of any epoch; a run that is ahead of it is caught up with later.
        `as_epoch`: as if it were that of a later epoch.

        Raises:
            BadState: it is not one of this run.
        """
        self._state.step(wait_for_delayed_updates=True)
        with self._tracker.pause_updates():
            self._state.adopt(state, as_epoch)
            self._begin_epoch()

    def publish_update(self) -> None:
        """Report the update that this peer has just made, and offer it to peers that missed it."""
        self._forks.publish(self._state.updates)
        self._gradients.offer_update(self._state.local_epoch, self._state.updates)

    @property
    def _offered_epoch(self) -> int | None:
        return max((epoch for _, epoch in self._state.donors()), default=None)

    def _make_missed_updates(self) -> bool:
        """Catch up by updates, as far as the others are when this begins; False if they are too many, or not given."""
        missed = self._behind
        if not 0 < missed <= self.most_missed or not self._gradients.is_alive():
            return False
        if missed > 1:
            # As with a state: their gradients are of parameters too old.
            self._gradients.reset_accumulated_grads_()
        return all(self._make_missed_update() for _ in range(missed))

    def _make_missed_update(self) -> bool:
        """Step with the average that others made without this peer; its own samples count in the next update."""
        epoch, own_samples = self._state.local_epoch + 1, int(self._gradients.local_samples_accumulated)
        with self._tracker.pause_updates():
            missed = self._gradients.fetch_update(self._state.donors(), self._state.updates, epoch, self._stop)
            if missed is None:
                return False
            self._gradients.load(missed.average)
            self._gradients.keep_average()
            self._state.step(increment_epoch=True, optimizer_step=True)
            self._state.updates = missed.updates
            self._tracker.update_epoch(epoch)
        self._tracker.report_unmeasured(epoch, own_samples)
        self._share_state(epoch)
        self.publish_update()
        return True

    def _begin_epoch(self) -> None:
        epoch = self._state.local_epoch
        self._forks.publish(self._state.updates)
        self._tracker.report_local_progress(epoch, samples_accumulated=0)
        self._gradients.reset_accumulated_grads_()
        self._share_state(epoch)

"""A peer that averages without samples: it reduces for peers that cannot be called, and always has the run's state.

hivemind's own auxiliary peers hold no averaged state. This one is a full member of each group, with weight zero.
"""

import threading
import time
from collections.abc import Callable
from typing import Any

from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.errors import ForeignState
from core.swarm.state.checks import State
from core.swarm.state.update_chain import chain_of, is_continuation

_ANNOUNCE_EVERY = 10.0
"""Seconds; a third of the time after which the others forget it."""
_CHECK_EVERY = 0.1
"""Seconds between two looks whether the epoch has changed."""


class AuxiliaryOptimizer(CollaborativeOptimizer):
    """Makes the updates of the run without samples of its own. Call `follow` again and again.

    Parameters beside those of `CollaborativeOptimizer`:
        averages: False only takes the state over from trainers, whenever it is `behind` epochs old.
        approve: raises BadState for the state of a trainer that must not become the backbone's.
    """

    _adds_samples = False

    def __init__(
        self, *, averages: bool, behind: int, approve: Callable[[State], None] = lambda _state: None, **options: Any
    ) -> None:
        self._averages, self._behind = averages, behind
        super().__init__(**options)
        self._approve = approve
        self.state_averager.approve = self._approve_state
        # All ask it first. A state is evaluated before it becomes the backbone's; an average cannot be.
        self.grad_averager.most_kept, self.run_state.most_missed = self.run_state.most_missed, 1
        self._left = threading.Event()
        self._announcements = threading.Thread(target=self._announce_until_left, name="announcements", daemon=True)
        if averages:
            self._announcements.start()
        # Every peer makes the initial parameters itself.
        self.state_averager.allow_state_sharing = False

    def follow(self) -> None:
        """Join the round that is due, or take the state over if this peer has missed one.

        Raises:
            RoundFailed: the round did not complete.
            StateUnavailable: nobody gives the state.
        """
        if self._averages:
            super().follow()
        elif self._should_load_state_from_peers():
            self.load_state_from_peers()
        self.share_state(self.local_epoch)

    def _approve_state(self, state: State) -> None:
        """Everybody takes over what the backbone has, so it takes only what goes on from where it is."""
        if not self.run_state.has_forked and not is_continuation(
            chain_of(state[0].get("updates")), self.state_averager.updates
        ):
            raise ForeignState("state_of_other_chain", epoch=state[0]["epoch"])
        self._approve(state)

    def share_state(self, epoch: int) -> None:
        super().share_state(epoch)
        self.state_averager.allow_state_sharing = epoch > 0

    def shutdown(self) -> None:
        """Leave the run."""
        self._left.set()
        if self._averages:
            # A later announcement would replace the record which says that this peer has left.
            self._announcements.join()
        super().shutdown()

    def _announce_until_left(self) -> None:
        # On a thread of its own: catching up from a slow peer takes longer than the others remember this one, and a
        # lone trainer that sees nobody goes on alone, on another fork.
        announced, at = -1, 0.0
        while not self._left.wait(_CHECK_EVERY):
            is_due = announced != self.local_epoch or time.monotonic() > at + _ANNOUNCE_EVERY
            if is_due and not self._yielding():
                announced, at = self.local_epoch, time.monotonic()
                self.tracker.announce(announced)

    def _should_load_state_from_peers(self) -> bool:
        if self._averages:
            return super()._should_load_state_from_peers()
        return bool(self.tracker.global_epoch - self.local_epoch >= self._behind)

    def _maybe_schedule_gradient_averaging(self) -> None:
        if self.tracker.other_trainers:
            super()._maybe_schedule_gradient_averaging()

    def _maybe_schedule_state_averaging(self) -> None:
        if self.tracker.other_trainers:
            super()._maybe_schedule_state_averaging()

    def _update_global_epoch(self, grad_scaler: Any) -> None:
        if self.tracker.other_trainers or self.tracker.global_epoch > self.local_epoch:
            super()._update_global_epoch(grad_scaler)

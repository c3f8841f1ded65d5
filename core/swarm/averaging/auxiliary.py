"""A peer that averages without samples: it reduces for peers that cannot be called, and always has the run's state.

hivemind's own auxiliary peers hold no averaged state. This one is a full member of each group, with weight zero.
"""

from typing import Any

from hivemind.utils import get_dht_time

from core.swarm.averaging.optimizer import CollaborativeOptimizer

_ANNOUNCE_EVERY = 10.0
"""Seconds; a third of the time after which the others forget it."""


class AuxiliaryOptimizer(CollaborativeOptimizer):
    """Makes the updates of the run without samples of its own. Call `follow` again and again.

    Parameters beside those of `CollaborativeOptimizer`:
        averages: False only takes the state over from trainers, whenever it is `behind` epochs old.
    """

    _adds_samples = False

    def __init__(self, *, averages: bool, behind: int, **options: Any) -> None:
        self._averages, self._behind = averages, behind
        self._announced = (-1, 0.0)
        super().__init__(**options)
        # Every peer makes the initial parameters itself.
        self.state_averager.allow_state_sharing = False

    def follow(self) -> None:
        """Join the round that is due, or take the state over if this peer has missed one.

        Raises:
            RoundFailed: the round did not complete.
            StateUnavailable: nobody gives the state.
        """
        if self._averages:
            self._announce()
            super().follow()
        elif self._should_load_state_from_peers():
            self.load_state_from_peers()
        self.share_state(self.local_epoch)

    def share_state(self, epoch: int) -> None:
        super().share_state(epoch)
        self.state_averager.allow_state_sharing = epoch > 0

    def _announce(self) -> None:
        epoch, at = self._announced
        if epoch != self.local_epoch or get_dht_time() > at + _ANNOUNCE_EVERY:
            self._announced = (self.local_epoch, get_dht_time())
            self.tracker.announce(self.local_epoch)

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

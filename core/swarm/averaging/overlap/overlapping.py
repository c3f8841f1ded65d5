"""Rounds beside the training: the next batch is accumulated while the gradients of this one are averaged.

The update is made at the first step after its round; until then this peer is in the old epoch in every respect, so that
a round that fails has changed nothing. hivemind's `delay_grad_averaging` begins the next epoch first: what it gives to
others is then not what it says, and the samples of a failed round are lost.

Gradients that were computed during a round are of parameters one update old. All members apply the same average
whatever each of them computes meanwhile, so every peer decides for itself.
"""

import time
from contextlib import suppress
from typing import Any

from hivemind.averaging.control import StepControl

from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.averaging.overlap.overlap_choice import Overlap, OverlapChoice
from core.swarm.averaging.round_control import look_after
from core.swarm.errors import RoundFailed
from core.swarm.state.checks import State


class OverlappingOptimizer(CollaborativeOptimizer):
    """Computes on during its rounds if that is worth it.

    Parameters beside those of `CollaborativeOptimizer`:
        overlap: as the manifest says.
    """

    def __init__(self, *, overlap: Overlap, **options: Any) -> None:
        self._overlap, self._choice = overlap, OverlapChoice()
        self._began = 0.0
        self._ended: float | None = None
        """When the present round began and ended, by the steady clock."""
        super().__init__(**options)
        self.grad_averager.computes_on = self._computes_on

    @property
    def is_overlapping(self) -> bool:
        """Whether a round goes on beside the training, or has ended and its update is not made yet."""
        return self.grad_averager.is_apart

    # -- the step ------------------------------------------------------------------------------------------------

    def step(self, *args: Any, **options: Any) -> Any:
        """See hivemind. The update of a round that has ended is made here."""
        result = super().step(*args, **options)
        self._make_update_if_due()
        return result

    def follow(self) -> None:
        """See `CollaborativeOptimizer.follow`."""
        super().follow()
        self._make_update_if_due()

    def end_round(self) -> None:
        """See `CollaborativeOptimizer.end_round`. What was brought to a round that fails is kept."""
        if self.is_overlapping:
            with suppress(RoundFailed):
                self._make_update(None)

    def _update_global_epoch(self, grad_scaler: Any) -> None:
        if not self.is_overlapping:
            super()._update_global_epoch(grad_scaler)

    def _make_update(self, grad_scaler: Any) -> None:
        if not self.is_overlapping:
            self._began, self._ended = time.monotonic(), None
            if not self._is_alone and self._computes_on():
                self._begin_round(grad_scaler)
                return
        samples, overlapped = self.grad_averager.samples_of_round, self.is_overlapping
        try:
            super()._make_update(grad_scaler)
        finally:
            self.grad_averager.take_back()
        now = time.monotonic()
        self._choice.add_update((self._ended or now) - self._began, now, samples, overlapped=overlapped)
        if self.own_samples:
            self.tracker.report_unmeasured(self.local_epoch, self.own_samples)

    def _computes_on(self) -> bool:
        return self._choice.is_worth(self._overlap)

    def _begin_round(self, grad_scaler: Any) -> None:
        try:
            began = super()._begin_averaging_gradients(grad_scaler)
        except RoundFailed:
            self._undo_round()
            raise
        if began and self.scheduled_grads is not None:
            self.grad_averager.set_apart()
            self.scheduled_grads.add_done_callback(self._note_end)

    def _note_end(self, _control: StepControl) -> None:
        self._ended = time.monotonic()

    def _begin_averaging_gradients(self, grad_scaler: Any) -> bool:
        return self.is_overlapping or super()._begin_averaging_gradients(grad_scaler)

    def _make_update_if_due(self) -> None:
        control = self.scheduled_grads
        if not self.is_overlapping or control is None:
            return
        look_after(control, self._others_went_on, self.grad_averager.update_expected_peers)
        if self._is_over(control) or self._is_next_batch_full:
            self._make_update(None)
            # The others may be waiting for this peer in the next round already.
            super().follow()

    def _others_went_on(self) -> bool:
        return bool(self.tracker.global_epoch > self.local_epoch)

    def _is_over(self, control: StepControl) -> bool:
        """Whether its update can be made at once: it waits for the averaging of the state after the last one, too."""
        return control.done() and all(update.done() for update in self.state_averager.pending_updates)

    @property
    def _is_next_batch_full(self) -> bool:
        """Then nothing is left but to wait: larger batches would be other steps than those of the project."""
        progress = self.tracker.global_progress
        return bool(
            progress.epoch == self.local_epoch and progress.samples_accumulated >= 2 * self.tracker.target_batch_size
        )

    # hivemind would look for the next round's group already, and for that of the state before the update is near.

    def _maybe_schedule_gradient_averaging(self) -> None:
        if not self.is_overlapping:
            super()._maybe_schedule_gradient_averaging()

    def _maybe_schedule_state_averaging(self) -> None:
        if not self._computes_on():
            super()._maybe_schedule_state_averaging()

    # -- the run's state -----------------------------------------------------------------------------------------

    def _should_load_state_from_peers(self) -> bool:
        # With the round's update this peer may be up to date.
        return not self.is_overlapping and super()._should_load_state_from_peers()

    def load_state_from_peers(self, **options: Any) -> None:
        """See `RunState.load`. A round is ended before."""
        self.end_round()
        super().load_state_from_peers(**options)

    def resume_from(self, state: State, as_epoch: int | None = None) -> None:
        """See `RunState.resume_from`. A round is ended before."""
        self.end_round()
        super().resume_from(state, as_epoch)

    # -- pauses --------------------------------------------------------------------------------------------------

    def give_up_rounds(self) -> None:
        """See `CollaborativeOptimizer.give_up_rounds`. The update of a round that had begun is made when it ends."""
        control = self.scheduled_grads
        super().give_up_rounds()
        if self.is_overlapping and control is not None:
            self.scheduled_grads = control
            if self._is_over(control):
                self.end_round()

    def resume(self) -> None:
        """See `CollaborativeOptimizer.resume`."""
        self._choice.pause()
        super().resume()

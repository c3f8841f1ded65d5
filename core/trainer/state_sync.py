"""Keeps a session's state that of its run: at the start, by a local copy, and after the loss has diverged."""

import logging
from collections.abc import Callable
from functools import partial

from core.api.errors import WorldError
from core.api.message import Message
from core.api.snapshot import CatchUp
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.errors import BadState, Interrupted, StateUnavailable
from core.trainer.control import Control
from core.trainer.divergence import DivergenceDetector
from core.trainer.local_copy import LocalCopy
from core.trainer.session_status import SessionStatus

log = logging.getLogger(__name__)

_TRIES_FOR_STATE = 5
_WAIT_FOR_STATE = 2.0
"""Seconds between tries: a donor cannot send its state during an update."""
_RETURNS = 3
"""To the last good state, before the session gives up."""
_FORGIVEN_AFTER = 64
"""Good microbatches in a row after which earlier returns no longer count."""


class StateSync:
    """For the training thread of one session."""

    def __init__(
        self,
        optimizer: CollaborativeOptimizer,
        copy: LocalCopy | None,
        status: SessionStatus,
        control: Control,
        on_remark: Callable[[Message], None],
    ) -> None:
        """`on_remark` gets messages for the volunteer."""
        self._on_remark = on_remark
        self._optimizer, self._copy, self._status, self._control = optimizer, copy, status, control
        self._losses = DivergenceDetector()
        self._returns = 0

    def begin(self) -> None:
        """Continue from the local copy, and fetch the run's state only if the run is not where the copy is.

        Raises:
            StateUnavailable: the run has moved on, and nobody gives its state.
        """
        saved = self._copy.read() if self._copy is not None else None
        epoch = saved[0]["epoch"] if saved is not None else 0
        self._status.enter("syncing")
        if saved is not None and self._optimizer.run_state.is_present(epoch) and self._restore():
            log.info("epoch %d: the run is where the local copy is, nothing is fetched", epoch)
            self._status.enter("contributing")
            return
        self.catch_up(epoch)

    def catch_up(self, here: int | None = None) -> None:
        """Take over the run's present state, if the run has one; `here` is the epoch to show as the present one.

        Raises:
            StateUnavailable: nobody gives it.
            Interrupted: the session is to leave.
        """
        optimizer = self._optimizer
        here = optimizer.local_epoch if here is None else here
        tries_left = _TRIES_FOR_STATE
        while True:
            self._status.enter("syncing", catching_up=CatchUp(here, max(here, optimizer.run_state.run_epoch)))
            if not optimizer.local_epoch and optimizer.run_state.is_unbegun:
                # Every peer makes the same initial parameters: fetching them over a slow line would waste minutes.
                break
            try:
                optimizer.load_state_from_peers()
                log.info("caught up: epoch %d to %d", here, optimizer.local_epoch)
                break
            except Interrupted:
                if self._control.leaving.is_set():
                    raise
                self._wait_while_held()
            except StateUnavailable:
                if optimizer.tracker.has_nothing_to_load:
                    # Every peer begins a run from the same seed, or another peer falsely claimed to be ahead.
                    break
                tries_left -= 1
                if not tries_left:
                    raise
                self._control.pause(_WAIT_FOR_STATE)
        self._status.enter("contributing")

    def is_good(self, loss: float) -> bool:
        """Whether gradients with this loss may count. If not, the session has returned to a good state.

        Raises:
            WorldError: several returns did not help.
        """
        cause = self._losses.judge(loss)
        if cause is None:
            if self._losses.good_in_a_row >= _FORGIVEN_AFTER:
                self._returns = 0
            return True
        self._return_to_good_state(cause)
        return False

    def copy_if_due(self) -> None:
        """Write the local copy on a thread if the last one is old."""
        if self._copy is not None and self._is_worth_copying:
            self._copy.write_if_due(self._optimizer.state_averager.snapshot)

    def last_copy(self) -> Callable[[], None]:
        """Take the state before the averagers end; what is returned writes it, after they have ended."""
        if self._copy is None or not self._is_worth_copying:
            return lambda: None
        return partial(self._copy.write, self._optimizer.state_averager.snapshot())

    @property
    def _is_worth_copying(self) -> bool:
        return self._optimizer.local_epoch > 0 and self._losses.is_steady

    def _wait_while_held(self) -> None:
        """Fetch nothing during a pause."""
        self._status.enter("holding")
        self._optimizer.hold()
        while self._control.wait_while_held(_WAIT_FOR_STATE):
            self._optimizer.give_up_rounds()
        self._optimizer.resume()

    def _return_to_good_state(self, cause: Message) -> None:
        self._returns += 1
        if self._returns > _RETURNS:
            raise WorldError("loss_diverged", cause=cause)
        epoch = self._optimizer.local_epoch
        self._losses.forget_high_losses()
        if self._restore():
            remark = Message("loss_restored", {"epoch": epoch, "cause": cause, "restored": self._optimizer.local_epoch})
        else:
            self.catch_up()
            remark = Message("loss_refetched", {"epoch": epoch, "cause": cause})
        self._on_remark(remark)

    def _restore(self) -> bool:
        """Continue from the local copy, if there is a good one."""
        saved = self._copy.read() if self._copy is not None else None
        if saved is None or self._copy is None:
            return False
        try:
            self._optimizer.resume_from(saved)
        except BadState as error:
            self._copy.refuse(str(error))
            return False
        return True

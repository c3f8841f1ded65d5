"""A volunteer's part in validating the others, at two percent of its time; see `core.swarm.trust.validation`.

The backbone judges only what it was sent itself. So each trainer that reduces a share watches a member of the group now
and then, and computes that one's gradients again, piece by piece between its own microbatches. Who fails twice in a row
is left out by this peer, which asks the organiser's validator to look, too.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time

from core.api.errors import WorldError
from core.learning.order import BadWork, Order, Piece, Recomputation
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.dht.work_records import WorkRecords
from core.swarm.trust.validation import MOST_LATE, Evidence, Verdicts, Wanted
from core.trainer.microbatch import Stopped

log = logging.getLogger(__name__)

SHARE = 0.02
"""Of this peer's time."""
_FIRST_AFTER = 300.0
"""Seconds until the first validation, in the mean."""
_LEFT_OUT_FOR = 3600.0
_PACE = 0.1
"""Of this peer's time, while it computes a case: a member with a faster computer brings more than this one computes."""
_LONGEST_CASE = 600.0
"""Seconds of computing after which a case is given up: only the backbone's validator has the time for it."""
_MOST_WATCHED = 16
"""Epochs after which watching is given up for a while: this peer may have no share of what is reduced."""


class _Case:
    """What one member brought to a round, while its record is looked for and it is computed again."""

    def __init__(self, evidence: Evidence, work: WorkRecords, target: int, portions: int) -> None:
        self.evidence, self._target, self._portions = evidence, target, portions
        self.pieces: list[Piece] | None = None
        """None if the member says nothing that fits."""
        self.recomputation: Recomputation | None = None
        # The DHT may take seconds.
        self._search = threading.Thread(target=self._look, args=(work,), name="record of work", daemon=True)
        self._search.start()

    @property
    def is_found(self) -> bool:
        """Whether the record was found, or is not looked for any more."""
        return not self._search.is_alive()

    def _look(self, work: WorkRecords) -> None:
        self.pieces = work.wait_for(PeerID.from_base58(self.evidence.peer), self.evidence.slot, self._fits).pieces

    def _fits(self, epoch: int, pieces: Sequence[Piece]) -> bool:
        return epoch == self.evidence.epoch and self.evidence.is_supported_by(pieces, self._target, self._portions)


class NoPeerValidation:
    """Where nobody can compute again what another peer has computed."""

    def step(self) -> None:
        """Nothing."""


class PeerValidation:
    """For the training thread of one session. Call `step` between two microbatches.

    Parameters:
        order: this peer's own.
        model: computes the others' gradients with their parameters, and gets its own back.
        tolerance: see `tolerance_of`.
        share: of this peer's time that it may take.
        portions: of the data.
        has_portion: whether a portion of the data is here. Nothing is fetched in order to validate others.
        largest: samples that fit into this peer's memory at once. Others may compute more.
        clock: monotonic, in seconds.
    """

    def __init__(
        self,
        optimizer: CollaborativeOptimizer,
        model: torch.nn.Module,
        order: Order,
        *,
        tolerance: float,
        share: float = SHARE,
        portions: int = 1,
        has_portion: Callable[[int], bool] = lambda _portion: True,
        largest: Callable[[], int] = lambda: 1 << 32,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._optimizer, self._model, self._order = optimizer, model, order
        self._tolerance, self._share, self._clock, self._has_portion = tolerance, share, clock, has_portion
        self._portions, self._verdicts, self._largest = portions, Verdicts(), largest
        self._recent: dict[int, list[torch.Tensor]] = {}
        self._is_watching = False
        self._case: _Case | None = None
        self._spent = 0.0
        """Seconds that the present validation has taken."""
        self._has_new_suspect = False
        self._watched = 0
        """Epochs for which there was nothing to validate."""
        self._due_at = clock() + _FIRST_AFTER * SHARE / share * random.uniform(0.5, 1.5)

    def step(self) -> None:
        """Do a little of it, if it is time.

        Raises:
            Stopped: a command asks to stop computing. What was being validated is given up.
        """
        began = self._clock()
        if began < self._due_at or self._optimizer.client_mode:
            # Who cannot be called reduces nothing.
            return
        case = self._case
        try:
            if case is None:
                self._watch()
            elif case.is_found:
                self._compute(case)
        finally:
            self._plan(began, has_ended=case is not None and self._case is None)

    def _plan(self, began: float, *, has_ended: bool) -> None:
        """When to do the next step, after one that began then."""
        now = self._clock()
        self._spent += now - began
        if self._case is not None and self._spent > _LONGEST_CASE:
            log.info("epoch %d: the samples of %s were given up", self._case.evidence.epoch, self._case.evidence.peer)
            self._case, has_ended = None, True
        if has_ended or self._has_waited_enough:
            wait = 0.0 if self._has_new_suspect else self._spent / self._share * random.uniform(0.5, 1.5)
            self._due_at, self._spent, self._recent, self._watched = now + wait, 0.0, {}, 0
            self._has_new_suspect = False
        elif self._case is not None and self._case.recomputation is not None:
            self._due_at = now + (now - began) * (1 / max(_PACE, self._share) - 1)

    @property
    def _has_waited_enough(self) -> bool:
        return self._case is None and self._watched > _MOST_WATCHED

    def _watch(self) -> None:
        """Keep parameters until a round was watched whose samples can be of no older ones."""
        averager, epoch = self._optimizer.grad_averager, self._optimizer.local_epoch
        if not self._optimizer.is_one_group:
            # The parameters of other groups are others.
            self._recent = {}
        if epoch not in self._recent:
            values = [value.detach().clone() for value in self._optimizer.state_averager.main_parameters]
            self._recent = {at: kept for at, kept in self._recent.items() if at >= epoch - MOST_LATE - 1}
            self._recent[epoch] = values
            self._watched += 1
        if not self._is_watching and self._has_parameters_for(epoch):
            self._is_watching = True
            suspects = self._verdicts.suspects | self._optimizer.accusations.accused
            averager.watch(Wanted(suspects, self._verdicts.passed, self._verdicts.waiting))
        for evidence in averager.read_evidence():
            if self._is_watching and evidence.weight > 0 and self._has_parameters_for(evidence.epoch):
                self._is_watching = False
                averager.watch(None)
                target = self._optimizer.tracker.target_batch_size
                self._case = _Case(evidence, self._optimizer.work, target, self._portions)

    def _has_parameters_for(self, epoch: int) -> bool:
        return all(at in self._recent for at in range(max(0, epoch - MOST_LATE), epoch + 1))

    def _compute(self, case: _Case) -> None:
        evidence, pieces = case.evidence, case.pieces
        if pieces is None or not self._can_compute(pieces):
            # Those who keep the record may have lost it: only the organiser's validator asks again and again.
            self._case = None
            return
        if case.recomputation is None:
            order = replace(self._order, peer=PeerID.from_base58(evidence.peer).to_bytes())
            case.recomputation = Recomputation(order, self._model, pieces, self._take)
        own: list[torch.Tensor] = []
        try:
            own = [value.detach().clone() for value in self._model.parameters()]
            is_done = not case.recomputation.step()
        except BadWork:
            self._judge(evidence, float("inf"))
        except (torch.OutOfMemoryError, WorldError):
            # It has computed more at once than fits here, or its shards were removed meanwhile.
            self._case = None
        except Stopped:
            # The gradients of this piece are missing.
            self._case = None
            raise
        else:
            if is_done:
                self._judge(evidence, evidence.deviation(case.recomputation.vector))
        finally:
            if own:
                self._put(own)
            self._model.zero_grad()

    def _can_compute(self, pieces: Sequence[Piece]) -> bool:
        portions = {piece.portion for piece in pieces}
        return max((piece.count for piece in pieces), default=0) <= self._largest() and all(
            map(self._has_portion, portions)
        )

    def _take(self, epoch: int) -> None:
        self._put(self._recent[epoch])

    def _put(self, values: list[torch.Tensor]) -> None:
        with torch.no_grad():
            for parameter, value in zip(self._model.parameters(), values, strict=True):
                parameter.copy_(value)

    def _judge(self, evidence: Evidence, deviation: float) -> None:
        self._case = None
        is_good = deviation <= self._tolerance
        log.info("epoch %d: what %s brought differs by %.3g of its norm", evidence.epoch, evidence.peer, deviation)
        is_guilty = self._verdicts.add(evidence.peer, is_good=is_good)
        self._has_new_suspect = not (is_good or is_guilty)
        if is_guilty:
            now = get_dht_time()
            self._optimizer.distrust.ban(evidence.peer, "gradient_wrong", now + _LEFT_OUT_FOR, now)
            self._optimizer.work.accuse(evidence.peer)

"""A volunteer's part in validating the others, at two percent of its time; see `core.swarm.trust.validation`.

The backbone judges only what it was sent itself. So each trainer that reduces a share watches a member of the group now
and then, and computes that one's gradients again, piece by piece between its own microbatches. Who fails twice in a row
is left out by this peer, which asks the organiser's validator to check that one, too.

While the organiser is silent, others say whom they have found. Their word proves nothing, so this peer validates that
one itself, sooner than it is due; but no more than it may compute in an hour, however many are accused.
"""

import logging
import math
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
from core.swarm.dht.work_records import Found, WorkRecords
from core.swarm.trust.validation import MOST_LATE, Evidence, Verdicts, Wanted
from core.trainer.microbatch import Stopped

log = logging.getLogger(__name__)

SHARE = 0.02
"""Of this peer's time."""
_FIRST_AFTER = 300.0
"""Seconds until the first validation, on average."""
_LEFT_OUT_FOR = 3600.0
_PACE = 0.1
"""Of this peer's time, while it computes a case: a member with a faster computer brings more than this one computes."""
_LONGEST_CASE = 600.0
"""Seconds of computing after which a case is given up: only the backbone's validator has the time for it."""
_AHEAD = 3600.0
"""Seconds of that share that may be spent in advance while a member is suspected or accused."""
_MOST_WATCHED = 16
"""Epochs after which watching is given up for a while: this peer may have no share of what is reduced."""


class _Case:
    """What one member brought to a round, while its record is looked for and it is computed again."""

    def __init__(self, evidence: Evidence, work: WorkRecords, target: int, portions: int) -> None:
        self.evidence, self._target, self._portions = evidence, target, portions
        self.found = Found(None, others=False)
        self.recomputation: Recomputation | None = None
        # The DHT may take seconds.
        self._search = threading.Thread(target=self._search_record, args=(work,), name="record of work", daemon=True)
        self._search.start()

    @property
    def is_found(self) -> bool:
        """Whether the record was found, or is not looked for any more."""
        return not self._search.is_alive()

    def _search_record(self, work: WorkRecords) -> None:
        self.found = work.wait_for(PeerID.from_base58(self.evidence.peer), self.evidence.slot, self._fits)

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
        self._heard: frozenset[str] = frozenset()
        """Of the accused, those that this peer has validated since then, or found that it cannot."""
        self._rests_until = -math.inf
        """Between two pieces of a case."""
        self._watched = 0
        """Epochs for which there was nothing to validate."""
        self._due_at = clock() + _FIRST_AFTER * SHARE / share * random.uniform(0.5, 1.5)

    def step(self) -> None:
        """Do a little of it, if it is time.

        Raises:
            Stopped: a command asks to stop computing. What was being validated is given up.
        """
        began = self._clock()
        if began < max(self._rests_until, self._begins_at) or self._optimizer.client_mode:
            # A peer that cannot be called reduces nothing.
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
            wait = self._spent / self._share * random.uniform(0.5, 1.5)
            self._due_at = max(now, self._due_at) + wait
            self._spent, self._recent, self._watched = 0.0, {}, 0
        elif self._case is not None and self._case.recomputation is not None:
            self._rests_until = now + (now - began) * (1 / max(_PACE, self._share) - 1)

    @property
    def _begins_at(self) -> float:
        """When the present validation, or the next one, may begin."""
        accused = self._optimizer.accusations.accused
        self._heard &= accused
        is_urgent, has_begun = self._verdicts.suspects or accused - self._heard, self._case is not None or self._recent
        return self._due_at - _AHEAD if is_urgent or has_begun else self._due_at

    @property
    def _has_waited_enough(self) -> bool:
        return self._case is None and self._watched > _MOST_WATCHED

    def _watch(self) -> None:
        """Keep the parameters of the latest epochs, and watch a member of a round whose samples they all cover."""
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
            suspects = self._verdicts.suspects | (self._optimizer.accusations.accused - self._heard)
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
        evidence, pieces = case.evidence, case.found.pieces
        if pieces is None or not self._can_compute(pieces):
            self._case = None
            if pieces is None:
                self._note_silence(evidence.peer, case.found)
            else:
                self._heard |= {evidence.peer}
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
            self._heard |= {evidence.peer}
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
        self._heard |= {evidence.peer}
        if self._verdicts.add(evidence.peer, is_good=is_good):
            self._leave_out(evidence.peer)

    def _note_silence(self, peer: str, found: Found) -> None:
        """It says nothing of its work that fits: one that wants not to be validated does the same."""
        is_silent = found.has_refused or found.others
        if not is_silent:
            # It has left.
            self._heard |= {peer}
        elif self._verdicts.add_silence(peer, is_certain=found.has_refused):
            log.info("%s says nothing of its work that fits", peer)
            self._leave_out(peer)

    def _leave_out(self, peer: str) -> None:
        now = get_dht_time()
        self._optimizer.distrust.ban(peer, "gradient_wrong", now + _LEFT_OUT_FOR, now)
        self._optimizer.work.accuse(peer)

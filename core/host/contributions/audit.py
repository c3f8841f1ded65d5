"""Checks peers' claims of contributions, and records the possible ones.

A claim counts only if the peer was in the round's group, which the backbone knows as a member. And peers report their
progress: a claim cannot exceed the samples that the peer reported before the round, plus what it can compute at its
reported speed until the round; and all claims of a round together cannot exceed a few target batches.
"""

import logging
import math
import statistics
from dataclasses import replace

import msgspec

from core.api.errors import UsageError
from core.api.preferences.preferences import DISPLAY_NAME
from core.api.project.manifest import Training
from core.host.contributions.store import Claim, ContributionStore, Slot
from core.host.curve import Curve
from core.swarm.averaging.group import MemberSlot
from core.swarm.dht.contributions import BadStatement, Found, Round, Statement, verify
from core.swarm.dht.progress.credible_progress import PeerReport
from core.swarm.dht.progress.report_pace import LATEST
from core.swarm.dht.progress.run_monitor import RunProgress

log = logging.getLogger(__name__)

MOST_TOGETHER = 4
"""Target batches in one round, at most: the last microbatches of many peers can exceed one."""
_FULLEST = 2
"""Target batches that one peer brings to a round at most: it waits for the round when it has as many."""
_AHEAD = 2
_BEHIND = 100
"""Epochs for which a round can be claimed."""
_REPORT_DELAY = LATEST + 2.0
"""Seconds, at most, that a peer's report is old when it is read: until it is due, and until it arrives here."""
_MARGIN = 2.0
"""Speeds are averages: a peer may be faster by this factor for a while."""


class Audit:
    """Judges single statements, without clock and network."""

    def __init__(
        self, store: ContributionStore, curve: Curve, run_id: str, training: Training, *, knows_rounds: bool = False
    ) -> None:
        """With `knows_rounds`, `add_round` is called with each of the run's rounds."""
        self._knows_rounds = knows_rounds
        self._rounds: dict[int, tuple[frozenset[MemberSlot], bool]] = {}
        self._made = 0
        self._store, self._curve, self._run_id, self._training = store, curve, run_id, training
        self._reports: dict[bytes, list[PeerReport]] = {}
        """By slot: the last one of each epoch, with the time at which it was read."""
        self._peers: dict[bytes, bytes] = {}
        self._judged: dict[bytes, set[int]] = {}
        self._last: dict[bytes, bytes] = {}
        self._logged: dict[bytes, set[tuple[str, int]]] = {}
        self._disowned = frozenset[str]()
        self.epoch = 0

    def add_round(self, epoch: int, slots: frozenset[MemberSlot], *, may_be_others: bool) -> None:
        """The trainers of the group that made the update which `epoch` began with; `may_be_others`: it was full, so
        that others can have made the update in a group of their own. From any thread."""
        kept = {known: group for known, group in self._rounds.items() if known > epoch - _BEHIND}
        self._rounds = {**kept, epoch: (slots, may_be_others)}

    @property
    def met(self) -> frozenset[bytes]:
        """The slots of those who were in a group with the backbone lately."""
        return frozenset(slot for slots, _ in self._rounds.values() for _peer, slot in slots)

    def disown(self, peer: bytes) -> None:
        """Take back what the peer was credited with lately, and credit it with nothing more. From any thread."""
        self._disowned |= {peer.hex()}
        for claim in self._store.claims_of(peer.hex(), self._made - _BEHIND):
            self._store.withdraw(claim)

    def observe(self, progress: RunProgress, epoch: int, now: float) -> None:
        """Record peers' present reports. `epoch` is one that the run has certainly reached."""
        self._made = epoch
        epochs = [report.epoch for report in progress.slots.values()]
        # The median, so that one peer's wrong claim has no effect.
        self.epoch = max(epoch, statistics.median_low(epochs) if epochs else 0)
        for slot, report in progress.slots.items():
            self._observe_slot(slot, report, now)

    def judge(self, found: Found, now: float) -> None:
        """Record a statement's new claims if they are possible; else log and count each once."""
        if self._last.get(found.slot) == found.data:
            return
        try:
            volunteer, statement = verify(found.data)
            slot = self._check(found, statement)
            claims = [self._claim(round_, volunteer, slot, now) for round_ in statement.rounds]
        except BadStatement as why:
            self._reject(found.slot, str(why), 0)
            self._last[found.slot] = found.data
            return
        accepted = [claim for claim in claims if claim is not None]
        self._store.accept(accepted, _name(statement), now)
        self._store.set_slot(msgspec.structs.replace(slot, sequence=statement.sequence))
        for claim in accepted:
            self._judged.setdefault(found.slot, set()).add(claim.epoch)
            self._reduce_to_capacity(claim.epoch)
        self._add_to_curve(statement, accepted, now)
        if not self._pending(found.slot, statement):
            self._last[found.slot] = found.data

    def forget(self, present: set[bytes]) -> None:
        """Keep in memory only the slots in `present`."""
        for by_slot in (self._reports, self._peers, self._judged, self._last, self._logged):
            for slot in [slot for slot in by_slot if slot not in present]:
                del by_slot[slot]

    def _observe_slot(self, slot: bytes, report: PeerReport, now: float) -> None:
        reports = self._reports.setdefault(slot, [])
        if slot not in self._peers:
            self._peers[slot] = report.peer_id
            if self._store.slot(slot.hex()) is None:
                self._store.set_slot(Slot(slot.hex(), report.peer_id.hex(), report.epoch, 0))
        report = replace(report, time=now)
        if reports and reports[-1].epoch == report.epoch:
            # A peer on hold reports no samples for a while.
            most = max(reports[-1].samples_accumulated, report.samples_accumulated)
            speed = max(reports[-1].samples_per_second, report.samples_per_second)
            reports[-1] = replace(report, samples_accumulated=most, samples_per_second=speed)
        else:
            reports.append(report)
            del reports[:-_BEHIND]

    def _check(self, found: Found, statement: Statement) -> Slot:
        if statement.run_id != self._run_id:
            raise BadStatement("of another run")
        if statement.slot != found.slot:
            raise BadStatement("replayed")
        if not math.isfinite(statement.samples_per_second) or statement.samples_per_second < 0:
            raise BadStatement("malformed")
        slot = self._store.slot(found.slot.hex())
        if slot is None:
            raise BadStatement("of an unknown peer")
        if slot.peer != statement.peer.hex():
            raise BadStatement("of another peer")
        if statement.sequence < slot.sequence:
            raise BadStatement("replayed")
        return slot

    def _claim(self, done: Round, volunteer: str, slot: Slot, now: float) -> Claim | None:
        key = bytes.fromhex(slot.id)
        if done.epoch in self._judged.get(key, ()):
            return None
        if slot.peer in self._disowned:
            self._refuse(key, volunteer, "of wrong gradients", done.epoch)
            return None
        if done.epoch > self.epoch + _AHEAD:
            self._reject(key, "ahead of the run", done.epoch)
            return None
        if done.epoch < max(slot.first_epoch, self.epoch - _BEHIND):
            self._dismiss(key, "of a round it was not in", done.epoch)
            return None
        was_there = self._was_in((bytes.fromhex(slot.peer), key), done.epoch)
        if was_there is None:
            return None
        if not was_there:
            self._dismiss(key, "of a round it was not in", done.epoch)
            return None
        most = self._largest_claim(key, done.epoch, now)
        if done.samples > most:
            log.warning("slot %s: %d samples claimed, %d can be true", slot.id[:8], done.samples, most)
            self._refuse(key, volunteer, "inflated", done.epoch)
            return None
        return Claim(done.epoch, slot.id, volunteer, done.samples)

    def _was_in(self, slot: MemberSlot, epoch: int) -> bool | None:
        """Whether the slot's peer was in the group of a round; None: that may become known."""
        if not self._knows_rounds:
            return True
        if epoch > self._made:
            return None
        slots, may_be_others = self._rounds.get(epoch, (frozenset[MemberSlot](), True))
        if slot in slots or not may_be_others:
            return slot in slots
        # The backbone missed the round, or was in another group. Who takes part meets it sooner or later.
        return True if any(slot in slots for slots, _ in self._rounds.values()) else None

    def _largest_claim(self, slot: bytes, epoch: int, now: float) -> int:
        """Most samples that the slot can have given to the update that `epoch` began with, from its earlier reports."""
        together = MOST_TOGETHER * self._training.target_batch_size
        reports = self._reports.get(slot, [])
        before = [report for report in reports if report.epoch < epoch]
        if not any(report.adds_samples for report in reports):
            return 0
        if not before:
            return _FULLEST * self._training.target_batch_size + 2 * self._training.microbatch_size
        last = before[-1]
        reported = last.samples_accumulated if last.epoch == epoch - 1 else 0
        until = next((report.time for report in reports if report.epoch > last.epoch), now)
        speed = max(report.samples_per_second for report in reports)
        extra = _MARGIN * speed * (until - last.time + _REPORT_DELAY) + 2 * self._training.microbatch_size
        return int(min(together, reported + extra))

    def _reduce_to_capacity(self, epoch: int) -> None:
        """Withdraw claims of a round until the round can hold the rest; those of newcomers first: keys cost nothing."""
        claims = self._store.claims(epoch)
        together = sum(claim.samples for claim in claims)
        while claims and together > MOST_TOGETHER * self._training.target_batch_size:
            newest = claims.pop()
            together -= newest.samples
            self._store.withdraw(newest)
            self._reject(bytes.fromhex(newest.slot), "more than a round holds", epoch)

    def _add_to_curve(self, statement: Statement, accepted: list[Claim], now: float) -> None:
        losses = {done.epoch: done.loss for done in statement.rounds}
        for claim in accepted:
            loss = losses[claim.epoch]
            if loss is not None:
                self._curve.add_training(
                    claim.slot, epoch=claim.epoch, loss=loss, samples=claim.samples, at=now, current=self.epoch
                )

    def _pending(self, slot: bytes, statement: Statement) -> bool:
        """Whether a later poll may accept a claim that is not possible yet."""
        return any(done.epoch not in self._judged.get(slot, ()) for done in statement.rounds)

    def _refuse(self, slot: bytes, volunteer: str, reason: str, epoch: int) -> None:
        """Also after the backbone has started again."""
        self._store.refuse(epoch, slot.hex(), volunteer)
        self._dismiss(slot, reason, epoch)

    def _dismiss(self, slot: bytes, reason: str, epoch: int) -> None:
        """As long as the slot is there. Nothing is stored: anybody can claim rounds, under any number of keys."""
        self._judged.setdefault(slot, set()).add(epoch)
        self._reject(slot, reason, epoch)

    def _reject(self, slot: bytes, reason: str, epoch: int) -> None:
        logged = self._logged.setdefault(slot, set())
        if (reason, epoch) in logged and epoch:
            return
        logged.add((reason, epoch))
        log.warning("slot %s: a contribution was rejected: %s%s", slot.hex()[:8], reason, f", {epoch}" if epoch else "")
        self._store.reject(reason)


def _name(statement: Statement) -> str | None:
    """The published name, if the rules for display names allow it."""
    try:
        return DISPLAY_NAME.check("display_name", statement.name or "") or None
    except UsageError:
        return None

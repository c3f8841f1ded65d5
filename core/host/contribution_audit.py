"""Keeps the books of a run: sees who reports progress, checks what they say they gave, and enters what can be true.

Progress and statements are both told by the peers themselves. What holds one against the other: a round's claim cannot
be more than its peer had reported shortly before, plus what it computes at its reported speed until the round; and all
claims of a round together cannot be more than a round holds.
"""

import logging
import math
import statistics
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec
from hivemind import DHT

from core.api.errors import UsageError, WorldError
from core.api.identity import check_name
from core.api.project.manifest import Training
from core.host.contribution_store import Claim, ContributionStore, Slot
from core.host.curve import Curve
from core.swarm.dht.contributions import BadStatement, ContributionsBoard, Found, Round, Statement, verify
from core.swarm.dht.run_monitor import PeerProgress, RunMonitor, RunProgress

log = logging.getLogger(__name__)

MOST_TOGETHER = 4
"""Target batches that one round may hold: the last microbatches of many peers can overshoot."""
_AHEAD = 2
_BEHIND = 100
"""Epochs within which a round may still be claimed."""
_NEWS_TAKES = 2.0
"""Seconds that a peer's progress needs to be seen here."""
_MARGIN = 2.0
"""Speeds are averages: a peer may be this many times as fast for a while."""
_PERIOD = 1.0
_NOTE_EVERY = 20.0
"""Seconds between two looks, and between two notes of how many peers there are."""
_MOST_RECORDS = 4096


@dataclass(frozen=True)
class Sight:
    """What was last seen of a slot's progress in one epoch."""

    epoch: int
    samples: int
    samples_per_second: float
    at: float


class Audit:
    """Judges statements one by one; no clock and no network of its own."""

    def __init__(self, store: ContributionStore, curve: Curve, run_id: str, training: Training) -> None:
        self._store, self._curve, self._run_id, self._training = store, curve, run_id, training
        self._sights: dict[bytes, list[Sight]] = {}
        self._peers: dict[bytes, bytes] = {}
        self._judged: dict[bytes, set[int]] = {}
        self._last: dict[bytes, bytes] = {}
        self._told: dict[bytes, set[tuple[str, int]]] = {}
        self.epoch = 0

    def see(self, progress: RunProgress, epoch: int, now: float) -> None:
        """Take in what peers report now. `epoch` is where the run is for certain."""
        told = [peer.epoch for peer in progress.slots.values()]
        # One peer that claims to be far ahead must not take the others along.
        self.epoch = max(epoch, statistics.median_low(told) if told else 0)
        for slot, peer in progress.slots.items():
            self._see(slot, peer, now)

    def judge(self, found: Found, now: float) -> None:
        """Enter what is new in a statement and can be true; anything else is logged and counted, once."""
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
        self._store.remember(msgspec.structs.replace(slot, sequence=statement.sequence))
        for claim in accepted:
            self._judged.setdefault(found.slot, set()).add(claim.epoch)
            self._fit(claim.epoch)
        self._tell_curve(statement, accepted, now)
        if not self._pending(found.slot, statement):
            self._last[found.slot] = found.data

    def forget(self, present: set[bytes]) -> None:
        """Keep in memory only what concerns slots that can still be seen."""
        for kept in (self._sights, self._peers, self._judged, self._last, self._told):
            for slot in [slot for slot in kept if slot not in present]:
                del kept[slot]

    def _see(self, slot: bytes, peer: PeerProgress, now: float) -> None:
        sights = self._sights.setdefault(slot, [])
        if slot not in self._peers:
            self._peers[slot] = peer.peer
            if self._store.slot(slot.hex()) is None:
                self._store.remember(Slot(slot.hex(), peer.peer.hex(), peer.epoch, 0))
        sight = Sight(peer.epoch, peer.samples, peer.samples_per_second, now)
        if sights and sights[-1].epoch == peer.epoch:
            # A peer on hold reports none for a while.
            most = max(sights[-1].samples, sight.samples)
            speed = max(sights[-1].samples_per_second, sight.samples_per_second)
            sights[-1] = replace(sight, samples=most, samples_per_second=speed)
        else:
            sights.append(sight)
            del sights[:-_BEHIND]

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
        if done.epoch > self.epoch + _AHEAD:
            self._reject(key, "ahead of the run", done.epoch)
            return None
        if done.epoch < max(slot.first_epoch, self.epoch - _BEHIND):
            self._refuse(key, volunteer, "of a round it was not in", done.epoch)
            return None
        most = self._most(key, done.epoch, now)
        if done.samples > most:
            log.warning("slot %s: %d samples claimed, %d can be true", slot.id[:8], done.samples, most)
            self._refuse(key, volunteer, "inflated", done.epoch)
            return None
        return Claim(done.epoch, slot.id, volunteer, done.samples)

    def _most(self, slot: bytes, epoch: int, now: float) -> int:
        """Samples that the slot can have given to the update that `epoch` began with, by what it reported before."""
        together = MOST_TOGETHER * self._training.target_batch_size
        before = [sight for sight in self._sights.get(slot, ()) if sight.epoch < epoch]
        if not before:
            return self._training.target_batch_size + 2 * self._training.microbatch_size
        last = before[-1]
        reported = last.samples if last.epoch == epoch - 1 else 0
        since = self._next_sight(slot, last, now) - last.at + _NEWS_TAKES
        speed = max(sight.samples_per_second for sight in self._sights[slot])
        extra = _MARGIN * speed * since + 2 * self._training.microbatch_size
        return int(min(together, reported + extra))

    def _next_sight(self, slot: bytes, last: Sight, now: float) -> float:
        return next((sight.at for sight in self._sights[slot] if sight.epoch > last.epoch), now)

    def _fit(self, epoch: int) -> None:
        """Take the largest claims of a round back until the round can hold the rest."""
        claims = sorted(self._store.claims(epoch), key=lambda claim: claim.samples)
        together = sum(claim.samples for claim in claims)
        while claims and together > MOST_TOGETHER * self._training.target_batch_size:
            largest = claims.pop()
            together -= largest.samples
            self._store.take_back(largest)
            self._reject(bytes.fromhex(largest.slot), "more than a round holds", epoch)

    def _tell_curve(self, statement: Statement, accepted: list[Claim], now: float) -> None:
        losses = {done.epoch: done.loss for done in statement.rounds}
        for claim in accepted:
            loss = losses[claim.epoch]
            if loss is not None:
                told = {"epoch": claim.epoch, "loss": loss, "samples": claim.samples}
                self._curve.add_training(claim.slot, **told, at=now, current=self.epoch)  # type: ignore[arg-type]

    def _pending(self, slot: bytes, statement: Statement) -> bool:
        """Whether a later look may find true what is not yet."""
        return any(done.epoch not in self._judged.get(slot, ()) for done in statement.rounds)

    def _refuse(self, slot: bytes, volunteer: str, reason: str, epoch: int) -> None:
        self._judged.setdefault(slot, set()).add(epoch)
        self._store.refuse(epoch, slot.hex(), volunteer)
        self._reject(slot, reason, epoch)

    def _reject(self, slot: bytes, reason: str, epoch: int) -> None:
        told = self._told.setdefault(slot, set())
        if (reason, epoch) in told and epoch:
            return
        told.add((reason, epoch))
        log.warning("slot %s: a contribution was rejected: %s%s", slot.hex()[:8], reason, f", {epoch}" if epoch else "")
        self._store.reject(reason)


class ContributionAuditor:
    """An `Audit` with a network and a thread."""

    def __init__(self, dht: DHT, run_id: str, audit: Audit, store: ContributionStore, epoch: Callable[[], int]) -> None:
        """`epoch` tells where the run is for certain."""
        self._watch, self._board = RunMonitor(dht, run_id), ContributionsBoard(dht, run_id)
        self._audit, self._store, self._epoch = audit, store, epoch
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="clerk", daemon=True)
        self._noted_at = 0.0
        self.progress = RunProgress()
        self.held = False

    def start(self) -> None:
        self._thread.start()

    def look(self, now: float) -> None:
        """One glance at the run. `now` is UTC seconds.

        Raises:
            WorldError: the books cannot be written; nothing is lost as long as the statements stand.
        """
        self.progress = self._watch.read()
        self._audit.see(self.progress, self._epoch(), now)
        found = [found for number, found in enumerate(self._board.read()) if number < _MOST_RECORDS]
        for record in found:
            self._audit.judge(record, now)
        self._audit.forget({record.slot for record in found} | set(self.progress.slots))
        if now >= self._noted_at + _NOTE_EVERY or now < self._noted_at:
            self._noted_at = now
            self._store.show_presence(len(self.progress.peers), self.progress.samples_per_second, now)
            self._store.tidy(self._audit.epoch)

    def close(self) -> None:
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(10.0)

    def _run(self) -> None:
        while not self._closing.wait(_PERIOD):
            if self.held:
                continue
            try:
                self.look(time.time())
            except WorldError as error:
                log.error("%s", error)  # noqa: TRY400 - the sentence says all
            except Exception:  # top level of the thread: the main one sees whether the DHT has ended
                log.exception("a look at the contributions failed")


def _name(statement: Statement) -> str | None:
    """A stranger's name, held to the same rules as one's own."""
    try:
        return None if statement.name is None else check_name(statement.name)
    except UsageError:
        return None

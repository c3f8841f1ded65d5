"""How much of what peers report about themselves is believed. Pure, but for what a peer remembers of the others.

Progress records are self-reported: nobody checks them on their way. So every number is bounded, an epoch counts only
with the organiser's signature or with most peers behind it, and samples count as far as their peer has shown up with
samples before.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hivemind.optim.progress_tracker import LocalTrainingProgress
from hivemind.utils import ValueWithExpiration
from pydantic.v1 import ValidationError

_NO_SPEED = 1e-12
"""Samples per second below which a peer has never computed: hivemind begins with 1e-20. A peer on hold reports 0."""
_LARGEST = 1 << 53
_LONGEST = 120.0
"""Seconds that a record may still last: an honest one is renewed long before."""
_NEAR = 16
"""Epochs that a single peer may be ahead of all that is known otherwise: the organiser's record may be some behind."""
NEWCOMER = 1.0
"""All newcomers together count at most as much as this many average peers that have proved themselves: keys cost
nothing, so a hundred of them must not count more than one."""
_PROBATION = 3
"""Updates that a newcomer has to have come to, if this peer has made as many with others."""
_UNVALIDATED = 16
"""Updates likewise of one that the organiser has not validated, where it validates; and the epoch until which nobody
has to be validated, because all are new."""
_FASTEST_EPOCH = 0.25
"""Seconds: no peer counts as one that computes a whole batch alone in less."""
_LEFT_OUT_AFTER = 2
"""Absences in a row."""
_FIRST_DISBELIEF = 30.0
"""Seconds."""
_MOST_DISBELIEVED = 4096
_MOST_BATCHES = 4
"""Target batches that one peer may report for one epoch."""


@dataclass(frozen=True)
class PeerReport:
    """What one peer reports of itself, with every number finite and in range."""

    slot: bytes
    """The key that owns its place in the DHT."""
    peer_id: bytes
    """As it says itself."""
    epoch: int
    samples_accumulated: int
    """Towards the next update."""
    samples_per_second: float
    time: float = 0.0
    """When it was reported, UTC seconds."""
    client_mode: bool = False

    @property
    def adds_samples(self) -> bool:
        """Whether the peer computes: it is neither auxiliary nor on hold."""
        return self.samples_per_second > _NO_SPEED or self.samples_accumulated > 0

    @property
    def is_auxiliary(self) -> bool:
        """Whether the peer averages with the others and adds no samples."""
        return 0 < self.samples_per_second <= _NO_SPEED and self.samples_accumulated == 0

    def record(self) -> dict[str, Any]:
        """As hivemind's tracker reads it, which has the same names."""
        return {name: value for name, value in vars(self).items() if name != "slot"}


def reports_in(metadata: object, now: float, target_batch_size: int = _LARGEST) -> list[PeerReport]:
    """The usable records of what the DHT holds about a run's progress; others are left out."""
    found = []
    for slot, entry in metadata.items() if isinstance(metadata, Mapping) else ():
        report = _report(slot, entry, now, target_batch_size)
        if report is not None:
            found.append(report)
    return found


def _report(slot: object, entry: object, now: float, target_batch_size: int) -> PeerReport | None:
    if not isinstance(slot, bytes) or not isinstance(entry, ValueWithExpiration) or entry.value is None:
        return None
    try:
        reported = LocalTrainingProgress.parse_obj(entry.value)
    except (ValidationError, TypeError):  # the second for keys that are no strings
        return None
    # Longer than any honest peer asks for: its owner may be gone, and what it says must not outlive it.
    if not entry.expiration_time <= now + _LONGEST:
        return None
    if not (math.isfinite(reported.time) and math.isfinite(reported.samples_per_second)):
        return None
    if reported.epoch > _LARGEST or not 0 < len(reported.peer_id) <= 64:
        return None
    return replace(
        PeerReport(slot, **reported.dict()),
        samples_accumulated=min(reported.samples_accumulated, _MOST_BATCHES * target_batch_size),
        samples_per_second=min(reported.samples_per_second, target_batch_size / _FASTEST_EPOCH),
        time=min(max(reported.time, now - _LONGEST), now),
    )


def credible_epoch(
    own: int, reports: Iterable[PeerReport], organiser: int | None, disbelieved: Collection[bytes] = ()
) -> int:
    """The epoch that the run has reached, seen from a peer at epoch `own`.

    Parameters:
        reports: what the other peers report.
        organiser: the epoch that the organiser vouches for; None if its record cannot be had.
        disbelieved: slots that claimed to be ahead when nobody had the state of such an epoch.
    """
    others = [report for report in reports if report.slot not in disbelieved]
    known = max(own, supported_epoch(others, organiser))
    # An honest peer may have made an update that this one missed; if this is a lie, no state will be found.
    near = (report.epoch for report in others if not report.client_mode and report.epoch <= known + _NEAR)
    return max([known, *near])


def supported_epoch(reports: Iterable[PeerReport], organiser: int | None) -> int:
    """The highest epoch that the organiser vouches for, or that more than half of all, it among them, have reached."""
    votes = [report.epoch for report in reports]
    if organiser is not None:
        votes.append(organiser)
    votes.sort(reverse=True)
    return max(organiser or 0, votes[len(votes) // 2] if votes else 0)


class PeerHistory:
    """Which peers came to the updates that this peer made, and so can be believed to have samples.

    Parameters:
        validated: peers whose gradients the organiser has computed again; None if it does that with nobody's.
    """

    def __init__(self, validated: Callable[[], Collection[bytes] | None] = lambda: None) -> None:
        self._validated = validated
        self._partners: frozenset[bytes] = frozenset()
        self._absences: dict[bytes, int] = {}
        """Updates in a row that were made without a peer that was there."""
        self._present: frozenset[bytes] = frozenset()
        self._slots: dict[bytes, bytes] = {}
        self._rounds: dict[bytes, int] = {}
        """Updates that each made with this peer, since its record was first seen."""
        self._made = 0
        """Updates made with others."""

    def add_round(self, partners: Iterable[bytes], *, is_one_group: bool) -> None:
        """This peer made an update with `partners`; with `is_one_group` all who took part in it are among them."""
        self._partners = frozenset(partners)
        self._made += bool(self._partners)
        kept = self._present | self._partners
        rounds = {peer: count for peer, count in self._rounds.items() if peer in kept}
        self._rounds = rounds | {peer: rounds.get(peer, 0) + 1 for peer in self._partners}
        absent = self._present - self._partners if is_one_group else frozenset[bytes]()
        self._absences = {peer: self._absences.get(peer, 0) + 1 for peer in absent}

    def limited(
        self, reports: Sequence[PeerReport], own: PeerReport, is_alive: Callable[[PeerReport], bool] = lambda _: True
    ) -> list[PeerReport]:
        """The reports of the others with the samples and the speed that count.

        A newcomer is compared with trainers that are known and reported lately; where there are none (this peer adds no
        samples itself, and all others have left) there is nobody to protect either.
        """
        self._present = frozenset(report.peer_id for report in reports)
        self._remember_slots(reports)
        if not self._made:
            return list(reports)
        present = [own, *(report for report in reports if self._counts(report) and is_alive(report))]
        known = [report for report in present if report.adds_samples]
        samples = speed = math.inf
        if known:
            samples = NEWCOMER * sum(report.samples_accumulated for report in known) / len(known)
            speed = NEWCOMER * sum(report.samples_per_second for report in known) / len(known)
        crowd = sum(report.adds_samples and not self.has_proved_itself(report) for report in reports)

        def limited(report: PeerReport) -> PeerReport:
            if self._counts(report):
                return report
            among = 1 if self.has_proved_itself(report) else max(1, crowd)
            return self._held(report, samples / among, speed / among)

        return [limited(report) for report in reports]

    def is_known(self, report: PeerReport) -> bool:
        """Whether it is of a peer that made the last update together with this one."""
        return report.peer_id in self._partners and self._slots.get(report.peer_id) == report.slot

    def has_proved_itself(self, report: PeerReport) -> bool:
        """Whether it is of a peer that came to enough updates to be no newcomer any more."""
        needed = max(1, min(self._probation(report), self._made))
        return self._rounds.get(report.peer_id, 0) >= needed and self._slots.get(report.peer_id) == report.slot

    def _probation(self, report: PeerReport) -> int:
        validated = self._validated()
        is_validated = validated is None or report.epoch < _UNVALIDATED or report.peer_id in validated
        return _PROBATION if is_validated else _UNVALIDATED

    def _counts(self, report: PeerReport) -> bool:
        return self.is_known(report) and self.has_proved_itself(report)

    def _held(self, report: PeerReport, samples: float, speed: float) -> PeerReport:
        if report.is_auxiliary:
            return report
        if not _may_come(self._absences.get(report.peer_id, 0)):
            samples = speed = 0.0
        return replace(
            report,
            samples_accumulated=int(min(report.samples_accumulated, samples)),
            samples_per_second=min(report.samples_per_second, speed),
        )

    def _remember_slots(self, reports: Sequence[PeerReport]) -> None:
        """A record names its peer itself: the first slot that does so counts for as long as it is there."""
        present = {report.slot for report in reports}
        self._slots = {peer: slot for peer, slot in self._slots.items() if slot in present}
        for report in reports:
            self._slots.setdefault(report.peer_id, report.slot)


def _may_come(absences: int) -> bool:
    """Whether a peer is waited for after so many absences in a row: the first two, then at each power of two.

    An honest one that missed two updates could never come again if groups began at once without it; and one that only
    pretends to compute delays few updates.
    """
    return absences < _LEFT_OUT_AFTER or (absences > _LEFT_OUT_AFTER and absences.bit_count() == 1)


class Disbelief:
    """Slots that claimed to be ahead when nobody had the state of such an epoch: each time for twice as long."""

    def __init__(self) -> None:
        self._until: dict[bytes, tuple[float, float]] = {}

    def add(self, slots: Iterable[bytes], now: float) -> None:
        for slot in slots:
            _, lasts = self._until.get(slot, (0.0, _FIRST_DISBELIEF / 2))
            self._until[slot] = (now + 2 * lasts, 2 * lasts)
        while len(self._until) > _MOST_DISBELIEVED:
            del self._until[next(iter(self._until))]

    def slots(self, now: float) -> frozenset[bytes]:
        return frozenset(slot for slot, (until, _) in self._until.items() if until > now)

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
_NEWCOMER = 2.0
"""A peer that was in no round counts at most as much as this many average peers that were."""
_FASTEST_EPOCH = 0.25
"""Seconds: no peer counts as one that computes a whole batch alone in less."""
_FIRST_DISBELIEF = 30.0
"""Seconds."""
_MOST_DISBELIEVED = 4096
_MOST_BATCHES = 4
"""Target batches that one peer may report for one epoch."""


@dataclass(frozen=True)
class Claim:
    """What one peer reports of itself, with every number finite and in range."""

    slot: bytes
    """The key that owns its place in the DHT."""
    peer: bytes
    """Its peer id, as it says."""
    epoch: int
    samples: int
    samples_per_second: float
    time: float
    client_mode: bool

    @property
    def adds_samples(self) -> bool:
        """Whether the peer computes: it is neither auxiliary nor on hold."""
        return self.samples_per_second > _NO_SPEED or self.samples > 0

    @property
    def is_auxiliary(self) -> bool:
        """Whether the peer averages with the others and adds no samples."""
        return 0 < self.samples_per_second <= _NO_SPEED and self.samples == 0

    def record(self) -> dict[str, Any]:
        """As hivemind's tracker reads it."""
        return {
            "peer_id": self.peer,
            "epoch": self.epoch,
            "samples_accumulated": self.samples,
            "samples_per_second": self.samples_per_second,
            "time": self.time,
            "client_mode": self.client_mode,
        }


def claim_of(slot: bytes, told: LocalTrainingProgress) -> Claim:
    """What a record says, as it stands."""
    return Claim(
        slot,
        told.peer_id,
        told.epoch,
        told.samples_accumulated,
        told.samples_per_second,
        told.time,
        told.client_mode,
    )


def claims_in(metadata: object, now: float, target_batch_size: int = _LARGEST) -> list[Claim]:
    """The usable records of what the DHT holds about a run's progress; others are left out."""
    found = []
    for slot, entry in metadata.items() if isinstance(metadata, Mapping) else ():
        claim = _claim(slot, entry, now, target_batch_size)
        if claim is not None:
            found.append(claim)
    return found


def _claim(slot: object, entry: object, now: float, target_batch_size: int) -> Claim | None:
    if not isinstance(slot, bytes) or not isinstance(entry, ValueWithExpiration) or entry.value is None:
        return None
    try:
        told = LocalTrainingProgress.parse_obj(entry.value)
    except (ValidationError, TypeError):  # the second for keys that are no strings
        return None
    # Longer than any honest peer asks for: its owner may be gone, and what it says must not outlive it.
    if not entry.expiration_time <= now + _LONGEST:
        return None
    if not (math.isfinite(told.time) and math.isfinite(told.samples_per_second)):
        return None
    if told.epoch > _LARGEST or not 0 < len(told.peer_id) <= 64:
        return None
    return replace(
        claim_of(slot, told),
        samples=min(told.samples_accumulated, _MOST_BATCHES * target_batch_size),
        samples_per_second=min(told.samples_per_second, target_batch_size / _FASTEST_EPOCH),
        time=min(max(told.time, now - _LONGEST), now),
    )


def credible_epoch(
    own: int, claims: Iterable[Claim], organiser: int | None, disbelieved: Collection[bytes] = ()
) -> int:
    """The epoch that the run has reached, seen from a peer at epoch `own`.

    Parameters:
        claims: what the other peers report.
        organiser: the epoch that the organiser vouches for; None if its record cannot be had.
        disbelieved: slots that claimed to be ahead when nobody had the state of such an epoch.
    """
    others = [claim for claim in claims if claim.slot not in disbelieved]
    known = max(own, supported_epoch(others, organiser))
    # An honest peer may have made an update that this one missed; if this is a lie, no state will be found.
    near = (claim.epoch for claim in others if not claim.client_mode and claim.epoch <= known + _NEAR)
    return max([known, *near])


def supported_epoch(claims: Iterable[Claim], organiser: int | None) -> int:
    """The highest epoch that the organiser vouches for, or that more than half of all, it among them, have reached."""
    votes = [claim.epoch for claim in claims]
    if organiser is not None:
        votes.append(organiser)
    votes.sort(reverse=True)
    return max(organiser or 0, votes[len(votes) // 2] if votes else 0)


class PeerHistory:
    """Which peers came to the updates that this peer made, and so can be believed to have samples."""

    def __init__(self) -> None:
        self._partners: frozenset[bytes] = frozenset()
        self._absent: frozenset[bytes] = frozenset()
        self._absent_twice: frozenset[bytes] = frozenset()
        self._present: frozenset[bytes] = frozenset()
        self._slots: dict[bytes, bytes] = {}
        self._has_partners = False

    def add_round(self, partners: Iterable[bytes], *, is_one_group: bool) -> None:
        """This peer made an update with `partners`; with `is_one_group` all who took part in it are among them."""
        self._partners = frozenset(partners)
        self._has_partners = self._has_partners or bool(self._partners)
        absent = self._present - self._partners if is_one_group else frozenset[bytes]()
        self._absent, self._absent_twice = absent, absent & self._absent

    def held_to_it(
        self, claims: Sequence[Claim], own: Claim, is_alive: Callable[[Claim], bool] = lambda _claim: True
    ) -> list[Claim]:
        """The claims of the others with the samples and the speed that count.

        A newcomer is compared with trainers that are known and reported lately; where there are none (this peer adds no
        samples itself, and all others have left) there is nobody to protect either.
        """
        self._present = frozenset(claim.peer for claim in claims)
        self._remember_slots(claims)
        if not self._has_partners:
            return list(claims)
        present = [own, *(claim for claim in claims if self._is_known(claim) and is_alive(claim))]
        known = [claim for claim in present if claim.adds_samples]
        samples = speed = math.inf
        if known:
            samples = _NEWCOMER * sum(claim.samples for claim in known) / len(known)
            speed = _NEWCOMER * sum(claim.samples_per_second for claim in known) / len(known)
        return [claim if self._is_known(claim) else self._held(claim, samples, speed) for claim in claims]

    def _is_known(self, claim: Claim) -> bool:
        return claim.peer in self._partners and self._slots[claim.peer] == claim.slot

    def _held(self, claim: Claim, samples: float, speed: float) -> Claim:
        if claim.is_auxiliary:
            return claim
        if claim.peer in self._absent_twice:
            samples = speed = 0.0
        return replace(
            claim,
            samples=int(min(claim.samples, samples)),
            samples_per_second=min(claim.samples_per_second, speed),
        )

    def _remember_slots(self, claims: Sequence[Claim]) -> None:
        """A record names its peer itself: the first slot that does so counts for as long as it is there."""
        present = {claim.slot for claim in claims}
        self._slots = {peer: slot for peer, slot in self._slots.items() if slot in present}
        for claim in claims:
            self._slots.setdefault(claim.peer, claim.slot)


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

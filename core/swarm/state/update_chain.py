"""Which updates led to a peer's parameters, and which of two forks is the run's where peers diverged. Pure.

Peers learn of each other with a delay. Under churn the peers of one epoch now and then average in two groups, or one
that is cut off steps alone: all are then at the same epoch with different parameters, and hivemind does not notice. So
updates form a hash chain: each has a digest of the one before and of random numbers that only its group knows. Where
two chains fork, all who see them come to the same judgement about which one is the run's.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

LENGTH = 8
"""Updates that a peer tells. A fork is judged after one or two."""
_REMEMBERED = 4096
"""That it knows of itself: two forks at different speeds are soon so far apart that what both tell has no epoch in
common, and would go on beside each other for good."""
_DIGEST_SIZE = 8
"""Bytes: enough that two updates never share a digest by chance."""


class ChainedUpdate(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One update of the collaboration, as those who made it together know it."""

    epoch: Annotated[int, Meta(ge=1, le=1 << 53)]
    """The epoch that began with it."""
    group_size: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Peers that averaged for it."""
    digest: Annotated[str, Meta(pattern=f"^[0-9a-f]{{{2 * _DIGEST_SIZE}}}$")]


UpdateChain = Annotated[tuple[ChainedUpdate, ...], Meta(max_length=LENGTH)]
"""The latest updates, the newest last."""


class ReportedChain(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """What one peer publishes about itself."""

    peer: Annotated[bytes, Meta(max_length=64)]
    """Its peer id."""
    updates: UpdateChain
    shares_state: bool
    """Whether it gives its state away."""


@dataclass(frozen=True)
class CanonicalFork:
    """A fork other than this peer's own, which is the run's."""

    first: ChainedUpdate
    """Its first update."""
    donors: frozenset[bytes]
    """Ids of peers on it that give their state away."""


def extended(chain: UpdateChain, epoch: int, nonces: Iterable[bytes]) -> UpdateChain:
    """The chain after an update to which each peer of the group brought a random number."""
    numbers = sorted(nonces)
    made = hashlib.blake2b(chain[-1].digest.encode() if chain else b"", digest_size=_DIGEST_SIZE)
    for number in numbers:
        made.update(number)
    return (*chain, ChainedUpdate(epoch, len(numbers), made.hexdigest()))[-LENGTH:]


def remembered(history: Sequence[ChainedUpdate], chain: UpdateChain) -> tuple[ChainedUpdate, ...]:
    """A peer's updates after it has come to `chain`: all that led there, if its history did."""
    known = next((at for at, update in enumerate(chain) if history and update == history[-1]), None)
    return (*history, *chain[known + 1 :])[-_REMEMBERED:] if known is not None else tuple(chain)


def chain_of(sent: object) -> UpdateChain:
    """A chain as a stranger sends it; empty if it is malformed."""
    try:
        return msgspec.convert(sent, UpdateChain)
    except msgspec.ValidationError:
        return ()


def is_continuation(updates: UpdateChain, own: UpdateChain) -> bool:
    """Whether a chain can go on from one's own; what lies too far back cannot be compared. The newest update of one's
    own does not count: the others may have failed to make it."""
    last = own[-2] if len(own) > 1 else None
    return last is None or last in updates or all(update.epoch > last.epoch for update in updates)


def canonical_fork_of(
    own: Sequence[ChainedUpdate],
    reported: Sequence[ReportedChain],
    backbones: Collection[bytes] = (),
    *,
    is_backbone: bool = False,
) -> CanonicalFork | None:
    """The fork that this peer should change over to; None if its own, by all updates that it remembers, is the run's.

    Forks are compared by their first updates. The newest update of a chain does not count yet: its group may not have
    published it. A fork counts only if at least half of the group that began it is on it; then that of a backbone is
    the run's, because peers take over only states that it vouches for; else the larger group's, and among equals the
    digest decides, so that no two peers change places.
    """
    best, best_rank = None, None
    for other in reported:
        forked = _first_difference(own, other.updates)
        if forked is None:
            continue
        mine, theirs = forked
        on_theirs = [peer for peer in reported if theirs in peer.updates]
        since = {update for update in own if update.epoch >= mine.epoch}
        on_mine = [peer for peer in reported if not since.isdisjoint(peer.updates)]
        rank = _rank(theirs, on_theirs, backbones)
        donors = frozenset(peer.peer for peer in on_theirs if peer.shares_state)
        if (
            donors
            and rank[0]
            # This peer is on its own fork, whether or not its record has arrived among the others.
            and rank > _rank(mine, on_mine, backbones, own=True, vouches=is_backbone)
            and (best_rank is None or rank > best_rank)
        ):
            best, best_rank = CanonicalFork(theirs, donors), rank
    return best


def _first_difference(own: Sequence[ChainedUpdate], other: UpdateChain) -> tuple[ChainedUpdate, ChainedUpdate] | None:
    """The earliest updates of the same epoch that differ."""
    mine = {update.epoch: update for update in own[:-1]}
    pairs = ((mine[update.epoch], update) for update in other[:-1] if update.epoch in mine)
    return next(((a, b) for a, b in pairs if a != b), None)


def _rank(
    update: ChainedUpdate,
    backers: Sequence[ReportedChain],
    backbones: Collection[bytes],
    *,
    own: bool = False,
    vouches: bool = False,
) -> tuple[bool, bool, int, str]:
    has_backbone = vouches or any(peer.peer in backbones for peer in backers)
    return 2 * (len(backers) + own) >= update.group_size, has_backbone, update.group_size, update.digest

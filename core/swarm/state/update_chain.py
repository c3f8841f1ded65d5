"""Which updates led to a peer's parameters, and which of two forks is the run's where peers diverged. Pure.

Peers learn of each other with a delay. Under churn the peers of one epoch now and then average in two groups, or one
that is cut off steps alone: all are then at the same epoch with different parameters, and hivemind does not notice. So
updates form a hash chain: each has a digest of the one before, of random numbers that only its group knows, and of the
average that was applied, so a member to whom a reducer gave another one is on a fork of its own. Where two chains fork,
all who see them come to the same judgement about which one is the run's.
"""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

LENGTH = 8
"""Updates that a peer remembers. A fork is judged after one or two."""
_DIGEST_SIZE = 16
"""Bytes: enough that nobody finds two averages with which updates share a digest while a round lasts."""


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


def extended(chain: UpdateChain, epoch: int, nonces: Iterable[bytes], average: bytes = b"") -> UpdateChain:
    """The chain after an update to which each peer of the group brought a random number.

    Args:
        average: digests of what was applied.
    """
    numbers = sorted(nonces)
    made = hashlib.blake2b(chain[-1].digest.encode() if chain else b"", digest_size=_DIGEST_SIZE)
    for part in (*numbers, average):
        made.update(part)
    return (*chain, ChainedUpdate(epoch, len(numbers), made.hexdigest()))[-LENGTH:]


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
    own: UpdateChain, reported: Sequence[ReportedChain], backbones: Collection[bytes] = (), *, is_backbone: bool = False
) -> CanonicalFork | None:
    """The fork that this peer should change over to; None if its own is the run's.

    Forks are compared by their first updates. The newest update of a chain does not count yet: its group may not have
    published it. A fork counts only if at least half of the group that began it is on it; then that of a backbone is
    the run's, because peers take over only states that it vouches for; else the larger group's, and among equals the
    digest decides, so that no two peers change places. If no fork has half of its group, because a reducer gave each
    member another average, it is the backbone's, too.
    """
    best, best_rank = None, None
    for other in reported:
        forked = _first_difference(own, other.updates)
        if forked is None:
            continue
        mine, theirs = forked
        rank = _rank(theirs, reported, backbones)
        # This peer is on its own fork, whether or not its record has arrived among the others.
        donors = frozenset(peer.peer for peer in reported if peer.shares_state and theirs in peer.updates)
        if (
            donors
            and (rank[0] or rank[1])
            and rank > _rank(mine, reported, backbones, own=True, vouches=is_backbone)
            and (best_rank is None or rank > best_rank)
        ):
            best, best_rank = CanonicalFork(theirs, donors), rank
    return best


def _first_difference(own: UpdateChain, other: UpdateChain) -> tuple[ChainedUpdate, ChainedUpdate] | None:
    """The earliest updates of the same epoch that differ."""
    mine = {update.epoch: update for update in own[:-1]}
    pairs = ((mine[update.epoch], update) for update in other[:-1] if update.epoch in mine)
    return next(((a, b) for a, b in pairs if a != b), None)


def _rank(
    update: ChainedUpdate,
    reported: Sequence[ReportedChain],
    backbones: Collection[bytes],
    *,
    own: bool = False,
    vouches: bool = False,
) -> tuple[bool, bool, int, str]:
    backers = [peer.peer for peer in reported if update in peer.updates]
    has_backbone = vouches or any(peer in backbones for peer in backers)
    return 2 * (len(backers) + own) >= update.group_size, has_backbone, update.group_size, update.digest

"""Which updates led to a peer's parameters, and which of two ways the run goes on where peers drifted apart. Pure.

Groups are found by hearsay. Under churn the peers of one epoch now and then average in two groups, or one that is cut
off steps alone: all are then at the same epoch with different parameters, and nothing in hivemind tells them. So every
update leaves a mark that only those who made it together can have, on top of the mark before; a peer's last marks are
its trail. Where two trails part, all who see them come to the same judgement about which one is the run's.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

LENGTH = 8
"""Updates that a trail remembers. Two ways that parted are judged after one or two."""
_NAME = 8
"""Bytes of a mark's name: enough that two updates never share it by chance."""


class Mark(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One update of the collaboration, as those who made it together know it."""

    epoch: Annotated[int, Meta(ge=1, le=1 << 53)]
    """That began with it."""
    group: Annotated[int, Meta(ge=1, le=1 << 20)]
    """Peers that averaged for it."""
    name: Annotated[str, Meta(pattern=f"^[0-9a-f]{{{2 * _NAME}}}$")]


Trail = Annotated[tuple[Mark, ...], Meta(max_length=LENGTH)]
"""The latest marks, the newest last."""


@dataclass(frozen=True)
class ReportedChain:
    """What one peer tells of its way."""

    peer: bytes
    """Its peer id."""
    trail: tuple[Mark, ...]
    gives: bool
    """Whether it gives its state away."""


@dataclass(frozen=True)
class CanonicalFork:
    """A way other than this peer's own, which is the run's."""

    mark: Mark
    """Where it parted."""
    donors: frozenset[bytes]
    """Ids of peers on it that give their state away."""


def extended(trail: Sequence[Mark], epoch: int, brought: Iterable[bytes]) -> tuple[Mark, ...]:
    """The trail after an update to which each peer of the group brought a random number."""
    numbers = sorted(brought)
    made = hashlib.blake2b(trail[-1].name.encode() if trail else b"", digest_size=_NAME)
    for number in numbers:
        made.update(number)
    return (*trail, Mark(epoch, len(numbers), made.hexdigest()))[-LENGTH:]


def trail_of(told: object) -> tuple[Mark, ...]:
    """A trail as a stranger tells it; none, if that is no trail."""
    try:
        return msgspec.convert(told, Trail)
    except msgspec.ValidationError:
        return ()


def canonical_fork_of(own: Sequence[Mark], told: Sequence[ReportedChain]) -> CanonicalFork | None:
    """The way that this peer should change over to; None if its own is the run's.

    Ways are compared where they parted. The newest mark of a trail does not count yet: its group may not have told of
    it. A way counts only if at least half of the group that began it is on it; then the larger group's is the run's,
    and among equals the name decides, so that nobody changes places with somebody else.
    """
    best, best_rank = None, None
    for other in told:
        parted = _parted(own, other.trail)
        if parted is None:
            continue
        mine, theirs = parted
        rank = _rank(theirs, told)
        # This peer is on its own way, whether or not its record has arrived among the others.
        donors = frozenset(peer.peer for peer in told if peer.gives and theirs in peer.trail)
        if donors and rank[0] and rank > _rank(mine, told, own=True) and (best_rank is None or rank > best_rank):
            best, best_rank = CanonicalFork(theirs, donors), rank
    return best


def _parted(own: Sequence[Mark], other: Sequence[Mark]) -> tuple[Mark, Mark] | None:
    """The earliest marks of the same epoch that differ."""
    mine = {mark.epoch: mark for mark in own[:-1]}
    pairs = ((mine[mark.epoch], mark) for mark in other[:-1] if mark.epoch in mine)
    return next(((a, b) for a, b in pairs if a != b), None)


def _rank(mark: Mark, told: Sequence[ReportedChain], *, own: bool = False) -> tuple[bool, int, str]:
    backers = sum(mark in peer.trail for peer in told) + own
    return 2 * backers >= mark.group, mark.group, mark.name

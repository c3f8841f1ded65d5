"""Who averaged together, and the update that they made of it."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hivemind.p2p import PeerID

from core.swarm.all_reduce.line_worth import Line

_NONCE_SIZE = 8
"""Bytes of the random number that a peer brings to a round."""
_SLOT_SIZE = 16
_FORMAT = 3
"""Of what members of a round send each other, and of what they make of it: those of another one would take averages for
differences, or find every update another one than theirs."""

MemberSlot = tuple[bytes, bytes]
"""The id of a member, and its place in the DHT as it says itself: it can name that of another one."""


@dataclass(frozen=True)
class Group:
    """The peers that made an average together."""

    nonces: tuple[bytes, ...]
    """A random number of each member; together they distinguish this round from every other."""
    peers: frozenset[bytes] = frozenset()
    """Ids of the members."""
    trainers: frozenset[str] = frozenset()
    """Ids of those that add samples."""
    slots: frozenset[MemberSlot] = frozenset()
    """Of those."""
    lines: Mapping[bytes, Line] = field(default_factory=dict)
    """Of each member."""
    computing_on: frozenset[str] = frozenset()
    """Ids of those that add samples to the next update while this round runs."""

    def slowest_beside(self, peer: PeerID) -> float:
        """Bytes per second of the slowest line of the others; 0 if there are none."""
        own = peer.to_bytes()
        return min((line.bandwidth for member, line in self.lines.items() if member != own), default=0.0)


@dataclass(frozen=True)
class Update:
    """One optimizer step of the collaboration, as this peer took part in it."""

    epoch: int
    """The epoch that begins with it."""
    own_samples: int
    """Of this peer, averaged into the step."""
    group_size: int
    """Peers in the averaging round, auxiliary ones too; 1 when this peer is legitimately alone."""
    partners: frozenset[str] = frozenset()
    """The ids of the other trainers in the group."""
    slots: frozenset[MemberSlot] = frozenset()
    """Of all of its trainers."""
    slowest_partner: float = 0.0
    """Bytes per second that the slowest line of the others carries, as they say; 0 if there are none."""


def to_gather(epoch: int, slot: bytes, line: Line, *, adds_samples: bool, computes_on: bool = False) -> list[Any]:
    """What a peer sends to the other members of its group. `slot` is its place in the DHT."""
    return [epoch, os.urandom(_NONCE_SIZE), adds_samples, slot, line.bandwidth, line.can_reduce, computes_on, _FORMAT]


def group_of(gathered: Mapping[PeerID, Any], epoch: int) -> Group | None:
    """The group, from what its members sent; None if one of them is not at `epoch`."""
    if not all(is_member_at(epoch, entry) for entry in gathered.values()):
        return None
    trainers = {str(peer): slot for peer, (_, _, adds_samples, slot, *_) in gathered.items() if adds_samples}
    nonces = tuple(nonce for _, nonce, *_ in gathered.values())
    lines = {peer.to_bytes(): Line(bandwidth, reduces) for peer, (*_, bandwidth, reduces, _, _) in gathered.items()}
    computing_on = frozenset(str(peer) for peer, (*_, computes_on, _) in gathered.items() if computes_on)
    return Group(
        nonces,
        frozenset(lines),
        frozenset(trainers),
        frozenset((PeerID.from_base58(peer).to_bytes(), slot) for peer, slot in trainers.items()),
        lines,
        computing_on & trainers.keys(),
    )


def group_of_one() -> Group:
    """This peer without others."""
    return Group((os.urandom(_NONCE_SIZE),))


def is_member_at(epoch: object, entry: object) -> bool:
    """Whether this is what a peer at `epoch` sends."""
    match entry:
        case (int(its_epoch), bytes(nonce), bool(), bytes(slot), float(bandwidth), bool(), bool(), int(format_)):
            is_whole = len(nonce) == _NONCE_SIZE and len(slot) == _SLOT_SIZE and 0 <= bandwidth < math.inf
            return is_whole and (its_epoch, format_) == (epoch, _FORMAT)
    return False

"""What members of a group say about themselves, and what of it counts.

Every member sends a claim when it joins: its bandwidth, whether it can be called, and what its averager adds. The
leader hands all of them on, and each member makes its shares of them. So a claim that cannot be read is refused where
it comes in, and what counts of the others is computed alike by everybody.
"""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hivemind.averaging.allreduce import AveragingMode
from hivemind.averaging.group_info import GroupInfo
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer

_LARGEST_CLAIM = 512
"""Bytes; an honest one has about 40."""
_LARGEST_GROUP = 1024
FASTEST = 1.25e9
"""Bytes per second (10 Gbit/s): a claim of more counts as this. No share follows from the claim alone; see
`load_balancing`."""

UserCheck = Callable[[Any, Any], bool]
"""Whether what another member's averager adds to its claim fits to what this one's adds."""


@dataclass(frozen=True)
class Claim:
    bandwidth: float | None
    mode: int
    user: bytes

    def packed(self) -> bytes:
        return bytes(MSGPackSerializer.dumps([self.bandwidth, self.mode, self.user]))


def read_claim(data: bytes) -> Claim | None:
    """The claim as it counts; None if it is malformed. Auxiliary peers of hivemind are none of ours."""
    match _unpacked(data):
        case [None | float() | int() as bandwidth, int(mode), bytes(user)] if not isinstance(bandwidth, bool):
            is_mode = mode in (AveragingMode.NODE.value, AveragingMode.CLIENT.value) and not isinstance(mode, bool)
            if is_mode and (bandwidth is None or 0 <= bandwidth < math.inf):
                return Claim(None if bandwidth is None else min(float(bandwidth), FASTEST), mode, user)
    return None


def is_sound(data: bytes, own: bytes, fits: UserCheck) -> bool:
    """Whether a member's claim can be used beside this peer's own."""
    claim, mine = read_claim(data), read_claim(own)
    return claim is not None and mine is not None and fits(_unpacked(claim.user), _unpacked(mine.user))


def added_by(peer: PeerID, group: GroupInfo) -> Any:
    """What the averager of a member added to its claim, which is sound."""
    claim = read_claim(group.gathered[group.peer_ids.index(peer)])
    return None if claim is None else _unpacked(claim.user)


def is_whole(group: GroupInfo, leader: PeerID, own: PeerID, own_claim: bytes) -> bool:
    """Whether a leader's group can be one: every member once, with a claim, this peer's as it sent it."""
    members = group.peer_ids
    if not len(set(members)) == len(members) == len(group.gathered) <= _LARGEST_GROUP:
        return False
    return leader in members and (own, own_claim) in zip(members, group.gathered, strict=True)


def as_counted(group: GroupInfo) -> GroupInfo:
    """The group with what counts of its claims.

    Its id then follows from its members and their claims: two to whom the leader has said different things do not take
    each other's parts, and neither counts the other's as malformed.
    """
    digest = hashlib.sha256(group.group_id)
    for peer, claim in zip(group.peer_ids, group.gathered, strict=True):
        for item in (peer.to_bytes(), claim):
            digest.update(len(item).to_bytes(4, "big") + item)
    gathered = tuple(claim.packed() for data in group.gathered if (claim := read_claim(data)) is not None)
    return replace(group, group_id=digest.digest(), gathered=gathered)


def _unpacked(data: object) -> object:
    if not isinstance(data, bytes) or len(data) > _LARGEST_CLAIM:
        return None
    try:
        return MSGPackSerializer.loads(data)
    except Exception:  # noqa: BLE001 - MessagePack, text, nested types: each fails in its own way
        return None

"""Who averaged together, and the update that they made of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hivemind.p2p import PeerID

_NONCE_SIZE = 8
"""Bytes of the random number that a peer brings to a round."""


@dataclass(frozen=True)
class Group:
    """The peers that made an average together."""

    nonces: tuple[bytes, ...]
    """A random number of each member; together they distinguish this round from every other."""
    peers: frozenset[bytes] = frozenset()
    """Ids of the members."""
    trainers: frozenset[str] = frozenset()
    """Ids of those that add samples."""


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


def to_gather(epoch: int, *, adds_samples: bool) -> list[Any]:
    """What a peer sends to the other members of its group."""
    return [epoch, os.urandom(_NONCE_SIZE), adds_samples]


def group_of(gathered: Mapping[PeerID, Any], epoch: int) -> Group | None:
    """The group, from what its members sent; None if one of them is not at `epoch`."""
    if not all(is_member_at(epoch, entry) for entry in gathered.values()):
        return None
    trainers = frozenset(str(peer) for peer, (_epoch, _nonce, adds_samples) in gathered.items() if adds_samples)
    nonces = tuple(nonce for _epoch, nonce, _adds in gathered.values())
    return Group(nonces, frozenset(peer.to_bytes() for peer in gathered), trainers)


def group_of_one() -> Group:
    """This peer without others."""
    return Group((os.urandom(_NONCE_SIZE),))


def is_member_at(epoch: object, entry: object) -> bool:
    """Whether this is what a peer at `epoch` sends."""
    match entry:
        case (int(its_epoch), bytes(nonce), bool()):
            return its_epoch == epoch and len(nonce) == _NONCE_SIZE
    return False

"""Whether the reducers of a round gave what they should have, by what its members say of it afterwards. Pure.

As in BTARD (Gorbunov et al. 2022), a member that audits a round asks the others for *sums*, of which nobody else knew
the seed before: of what each brought to each reducer, and, as a reducer, of what it took from each and what it gave.
Sums are the numbers of a vector with random signs in `SUMS` heaps; distances between them are those between the
vectors, give or take a fifth. Whoever reduced is bound by what it has sent by then, so no hash has to be sent before.

Whoever answers may lie, and members with less than half of the samples may do so together. So each is held to its own
word. A reducer gave a wrong average if that is not the centre of what it says that it took, or not what it says that it
gave. If it says that it took something else than a member says that it brought, one of both lies: the one whom members
with more than half of the samples contradict, or the one that contradicts the auditor. A reducer may leave out whom it
distrusts if it says so, but not those who brought more than half of the samples. Half is of all samples, those of the
member in question included: liars that have less never have an honest one blamed. Whom the auditor itself distrusts has
no voice in this, and may be left out by all.

A member may halt in the middle of a round: some of its parts then count, and others never came. That is no lie of
anybody's, so it has no voice either, and what a reducer that counted a part of it gave lies between the centres with
and without it.

An honest reducer gives all members the same bits. So one that gave members with more than half of the samples something
else than the auditor, however little, gave one of both a wrong average.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import torch
from msgspec import Meta

from core.swarm.trust.centered_clip import FAR, clip_of, shares_of
from core.swarm.trust.parts import DIGEST_SIZE
from core.swarm.trust.signed_sums import signed_sums

SUMS = 16
"""Numbers that stand for a share."""
_ROUGHLY = 4
"""Each part has a centre of its own, and sums are of the whole share: both may be apart by twice the longest clipped
differences of one in so many members."""
ENOUGH = 3
"""Members with samples that have a centre: of two, nobody knows who is right."""
_ROUGHLY_FAR = (FAR / 1.5, FAR, FAR * 1.5)
"""By sums, one who is about so far may be nearer or farther than the reducer found."""
_LARGEST = 1 << 20
_SLACK = 2.0
"""A reducer's limit for a member may be so many times more or less than the auditor's: each limits weights by what it
knows itself, and the limits leave so much room, in which a liar's voice is not to grow."""

Rows = np.ndarray
"""Sums, a row for each member of the group."""


class _Sent(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    weight: Annotated[float, Meta(ge=0)]
    brought: Annotated[bytes, Meta(max_length=_LARGEST)]
    taken: Annotated[bytes, Meta(max_length=_LARGEST)]
    counted: Annotated[bytes, Meta(max_length=_LARGEST)]
    given: Annotated[bytes, Meta(max_length=4 * SUMS)]
    received: Annotated[bytes, Meta(max_length=_LARGEST)]


@dataclass(frozen=True)
class Account:
    """What one member says of a round."""

    weight: float
    """With which it was in the round."""
    brought: Rows
    """To each reducer."""
    taken: Rows
    """From each member, as a reducer."""
    counted: np.ndarray
    """The weight with which each of these counted."""
    given: np.ndarray
    """The sums of the average."""
    received: Sequence[bytes] = ()
    """Digests of what each reducer gave it; none if it does not say."""

    def packed(self) -> bytes:
        arrays = (self.brought, self.taken, self.counted, self.given)
        brought, taken, counted, given = (array.astype(np.float32).tobytes() for array in arrays)
        return msgspec.msgpack.encode(_Sent(self.weight, brought, taken, counted, given, b"".join(self.received)))


def account_in(data: bytes, members: int) -> Account | None:
    """As a stranger sends it; None if it is malformed."""
    try:
        sent = msgspec.msgpack.decode(data, type=_Sent)
    except msgspec.MsgspecError:
        return None
    sizes = [len(sent.brought), len(sent.taken), len(sent.counted), len(sent.given)]
    if sizes != [4 * SUMS * members, 4 * SUMS * members, 4 * members, 4 * SUMS]:
        return None
    received = [sent.received[at : at + DIGEST_SIZE] for at in range(0, len(sent.received), DIGEST_SIZE)]
    if len(sent.received) not in (0, DIGEST_SIZE * members):
        return None
    brought, taken = (
        np.frombuffer(rows, np.float32).reshape(-1, SUMS).astype(float) for rows in (sent.brought, sent.taken)
    )
    counted, given = (np.frombuffer(numbers, np.float32).astype(float) for numbers in (sent.counted, sent.given))
    if not all(np.isfinite(numbers).all() for numbers in (sent.weight, brought, taken, counted, given)):
        return None
    return Account(sent.weight, brought, taken, np.maximum(counted, 0.0), given, received)


def sums_of(parts: Iterable[tuple[int, torch.Tensor]], seed: bytes, reducer: int) -> np.ndarray:
    """Of some parts of a reducer's share, by number."""
    total = np.zeros(SUMS)
    for number, part in parts:
        total += sums_of_part(part, seed, reducer, number)
    return total


def sums_of_part(part: torch.Tensor, seed: bytes, reducer: int, number: int) -> np.ndarray:
    return signed_sums(part, np.random.PCG64((int.from_bytes(seed, "big"), reducer, number)), SUMS)


@dataclass(frozen=True)
class Rounding:
    """What compression may change: of an average, and of what a member brought, as shares of the norm; and of both, for
    each reducer's share."""

    average: float
    brought: float
    least: Sequence[float]


def liars(
    own: int,
    said: Mapping[int, Account],
    received: Rows,
    most_weights: Sequence[float],
    *,
    shares: Sequence[int],
    rounding: Rounding,
    distrusted: Collection[int] = (),
    incomplete: Collection[int] = (),
) -> list[int]:
    """Members that lied to others, by number in the group.

    Args:
        own: the number of the member that asks.
        said: by all members that have answered, itself among them.
        received: what it got from each reducer.
        most_weights: what each member may weigh.
        shares: how many numbers each reduces; who reduces none takes nothing from anybody.
        distrusted: whom the member that asks leaves out itself.
        incomplete: from whom, or to whom, not all came, as it has seen itself.
    """
    contradicted = {member: _contradicted(member, said, rounding) for member in said}
    believed = [
        0.0 if member in distrusted else min(said[member].weight if member in said else math.inf, most / _SLACK)
        for member, most in enumerate(most_weights)
    ]

    def is_liar(member: int) -> bool:
        account, least = said[member], rounding.least[member]
        left_out = [other for other in said if shares[member] and _leaves_out(account, other)]
        got_others = [other for other in said if _has_other_bits(said[other], said[own], member)]
        for others in (contradicted[member], left_out, got_others):
            if 2 * sum(believed[other] for other in others if other not in incomplete) > sum(believed):
                return True
        if own in contradicted[member]:
            return True
        if _is_far(account.given, received[member], rounding.average, least):
            return True
        disputed = (*contradicted[member], *left_out, *incomplete)
        agreed = {other: said[other].weight for other in said if other not in disputed}
        weights = _weights(account.counted, agreed, most_weights, own)
        return not _is_centre_of_parts(account, weights, incomplete, rounding.average, least)

    return [member for member in said if member != own and member not in incomplete and is_liar(member)]


def _weights(counted: np.ndarray, agreed: Mapping[int, float], most: Sequence[float], own: int) -> np.ndarray:
    """As a reducer says that it counted the members; as those say themselves about whom it says the same, but for what
    its limits may differ from this member's. How the others limit this one itself, it does not know."""
    weights: np.ndarray = np.minimum(counted, _SLACK * np.array(most))
    for member, weight in agreed.items():
        limit = min(most[member], weight) if member == own else most[member]
        weights[member] = np.clip(weights[member], min(weight, limit / _SLACK), min(weight, limit * _SLACK))
    return weights


def _contradicted(member: int, said: Mapping[int, Account], rounding: Rounding) -> list[int]:
    """Those whose word about what one of both brought to the other is another one than this member's."""

    def differ(sender: int, reducer: int) -> bool:
        brought, taken = said[sender].brought[reducer], said[reducer].taken[sender]
        if said[sender].weight == 0 or _leaves_out(said[reducer], sender):
            return False
        return _is_far(brought, taken, rounding.brought, rounding.least[reducer])

    return [other for other in said if other != member and (differ(member, other) or differ(other, member))]


def _has_other_bits(one: Account, other: Account, reducer: int) -> bool:
    """Whether both say that the reducer gave them averages, and not the same."""
    return bool(one.received and other.received) and one.received[reducer] != other.received[reducer]


def _leaves_out(account: Account, sender: int) -> bool:
    """Whether a reducer says that nothing of a member counted: it distrusts that one, and may do so with a few."""
    return account.counted[sender] == 0 and not account.taken[sender].any()


def _is_far(one: np.ndarray, other: np.ndarray, rounding: float, least: float) -> bool:
    norm = max(float(np.linalg.norm(one)), float(np.linalg.norm(other)))
    return bool(np.linalg.norm(one - other) > max(rounding * norm, least))


def _is_centre_of_parts(
    account: Account, weights: np.ndarray, incomplete: Collection[int], rounding: float, least: float
) -> bool:
    """Whether a reducer gave the centre of what it says that it took: of these in some parts and not in others."""
    without = weights.copy()
    without[list(incomplete)] = 0.0
    taken = [_Taken(account, each) for each in (weights, without if without.any() else weights)]
    if min(len(each.vectors) for each in taken) < ENOUGH:
        return True
    apart = float(np.linalg.norm(taken[0].centre() - taken[1].centre()))
    return any(each.has_centre_near(account.given, rounding, max(least, 2 * apart)) for each in taken)


class _Taken:
    """What a reducer says that it took from those who count."""

    def __init__(self, account: Account, weights: np.ndarray) -> None:
        self.vectors, self._weights = account.taken[weights > 0], weights[weights > 0]
        self._squares = np.square(self.vectors[:, None] - self.vectors).sum(-1)

    def centre(self, far: float = FAR) -> np.ndarray:
        centre: np.ndarray = shares_of(self._squares, self._weights, far) @ self.vectors
        return centre

    def has_centre_near(self, given: np.ndarray, rounding: float, least: float) -> bool:
        lengths = self._weights / self._weights.sum() * clip_of(self._squares, self._weights).lengths
        longest = np.sort(lengths)[-max(1, len(lengths) // _ROUGHLY) :]
        allowed = max(rounding * np.linalg.norm(given), 2 * longest.sum(), least)
        return any(np.linalg.norm(self.centre(far) - given) <= allowed for far in _ROUGHLY_FAR)

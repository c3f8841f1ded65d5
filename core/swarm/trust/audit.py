"""Whether the reducers of a round gave what they should have, by what its members say of it afterwards. Pure.

The clipped differences between what members brought and what they got add up to zero (BTARD, Gorbunov et al. 2022).
A member that audits a round draws a seed when it has all its averages, and asks the others for *sums* of both vectors,
of each reducer's share: their numbers with random signs in `_SUMS` heaps. Distances between sums are those between the
vectors, give or take a fifth. Whoever reduced is bound by what it has sent before anybody knew the seed. So no hash has
to be sent before, and a seed needs nobody else.

Whoever answers may lie. A share counts as wrong only if what is left of the sum is more than a quarter of the members
can make by lies: each can change its clipped difference by twice its length. And if more reducers than that seem to be
wrong, it is the answers that are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np
import torch
from msgspec import Meta

from core.swarm.trust.centered_clip import clip_of

_SUMS = 16
_LIARS = 4
"""One in so many."""
ENOUGH = 3
"""Members whose word decides: of two, nobody knows who is right."""
_LARGEST = 1 << 20

Shares = Sequence[Sequence[torch.Tensor]]
"""A vector, cut into tensors by the reducer they belong to."""


class _Sent(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    weight: Annotated[float, Meta(ge=0)]
    brought: Annotated[bytes, Meta(max_length=_LARGEST)]
    received: Annotated[bytes, Meta(max_length=_LARGEST)]


@dataclass(frozen=True)
class Account:
    """What one member says of a round. A row for each reducer."""

    weight: float
    brought: np.ndarray
    received: np.ndarray

    def packed(self) -> bytes:
        return msgspec.msgpack.encode(_Sent(self.weight, self.brought.tobytes(), self.received.tobytes()))


def account_in(data: bytes, reducers: int, most_weight: float) -> Account | None:
    """As a stranger sends it; None if it is malformed."""
    try:
        sent = msgspec.msgpack.decode(data, type=_Sent)
    except msgspec.MsgspecError:
        return None
    if not len(sent.brought) == len(sent.received) == 4 * _SUMS * reducers:
        return None
    brought, received = (np.frombuffer(rows, np.float32).reshape(-1, _SUMS) for rows in (sent.brought, sent.received))
    if not (np.isfinite(brought).all() and np.isfinite(received).all() and np.isfinite(sent.weight)):
        return None
    return Account(min(sent.weight, most_weight), brought, received)


def sums_of(shares: Shares, seed: bytes) -> np.ndarray:
    """Of each reducer's share."""
    signs = np.random.PCG64(int.from_bytes(seed, "big"))
    return np.array([_sums(share, signs) for share in shares], np.float32)


def wrong_reducers(own: int, said: Mapping[int, Account], group_size: int, rounding: float) -> list[int]:
    """Who gave a wrong average, by number in the group.

    Args:
        own: the number of the member that asks.
        said: by all members that have answered, itself among them.
        rounding: what compression may change, as a share of the norm.
    """
    others = (reducer for reducer in range(group_size) if reducer != own)
    wrong = [reducer for reducer in others if _is_wrong(reducer, own, said, rounding)]
    return wrong if len(wrong) <= _most_liars(group_size) else []


def _is_wrong(reducer: int, own: int, said: Mapping[int, Account], rounding: float) -> bool:
    received = said[own].received[reducer].astype(float)
    least = rounding * float(np.linalg.norm(received))
    weighted = [account for account in said.values() if account.weight > 0]
    left, lies = _left_over(received, reducer, weighted) if len(weighted) >= ENOUGH else (0.0, 0.0)
    allowed = max(least, lies)
    witnesses = [account for member, account in said.items() if member != reducer]
    agreeing = sum(np.linalg.norm(witness.received[reducer] - received) <= allowed for witness in witnesses)
    return left > allowed or (len(witnesses) >= ENOUGH and 2 * int(agreeing) <= len(witnesses))


def _left_over(received: np.ndarray, reducer: int, said: Sequence[Account]) -> tuple[float, float]:
    """The sum of the clipped differences, and how much of it could be lies."""
    brought = np.array([account.brought[reducer] for account in said], float)
    weights = np.array([account.weight for account in said])
    clip = clip_of(np.square(brought[:, None] - brought).sum(-1), weights)
    differences = brought - received
    shares = clip.weights / weights.sum()
    left = (shares * clip.factors(np.linalg.norm(differences, axis=1))) @ differences
    lies = np.sort(weights / weights.sum() * clip.lengths)[-_most_liars(len(said)) :]
    return float(np.linalg.norm(left)), 2 * float(lies.sum())


def _most_liars(members: int) -> int:
    return max(1, members // _LIARS)


def _sums(tensors: Iterable[torch.Tensor], signs: np.random.PCG64) -> np.ndarray:
    sums = torch.zeros(_SUMS)
    for tensor in tensors:
        count = tensor.numel()
        drawn = np.unpackbits(signs.random_raw(-(-count // 64)).view(np.uint8), count=count).view(np.int8)
        signed = torch.zeros(-(-count // _SUMS) * _SUMS)
        torch.mul(tensor.flatten().float(), 1 - 2 * torch.from_numpy(drawn), out=signed[:count])
        sums += signed.view(-1, _SUMS).sum(0)
    return sums.numpy()

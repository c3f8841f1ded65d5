"""An average that a minority cannot move far: CenteredClip (Karimireddy, He and Jaggi 2021). Pure.

What a member sends is pulled to a centre until it is as near as honest members are: the centre v is where the clipped
differences min(1, t_i / |x_i - v|) (x_i - v), weighted by samples, add up to zero. As long as no difference is longer
than t_i, that is the weighted mean.

How near honest members are follows from what they sent. The gradient of w samples deviates by s / sqrt(w), and the
gradients of two members by s sqrt(1 / w_i + 1 / w_j): every pair is an estimate of s. Taken is the weighted median of
each member's weighted median over all members, which a minority by samples moves neither beyond the honest estimates
nor below them; and t_i = _LONGEST * s / sqrt(w_i). It does not depend on the centre, so the centre is unique: the
minimum of a convex function. A member whose own median is more than FAR times s does not count at all.

Of two members no median says which one is right: each is shortened to at most `_OF_TWO` times the norm of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch

_LONGEST = 1.25
"""Times the usual deviation: honest members are not all alike."""
FAR = 3.0
"""Times the usual deviation: honest members are not that far from most others."""
_OF_TWO = 3.0
_MOST_STEPS = 100
_NEAR = 1e-6
"""A step that changes no member's share of the centre by more is the last."""


class CollectedParts:
    """Takes the place of the sum in which hivemind's reducer adds up a part, and begins with nothing as that does."""

    def __init__(self, nothing: torch.Tensor) -> None:
        self._nothing = nothing
        self._parts: list[torch.Tensor] = []
        self._weights: list[float] = []
        self._distances: list[list[float]] = []
        """Of each part to those before it."""

    def add_(self, part: torch.Tensor, *, alpha: float) -> None:
        """The part of one more member; what can be computed is, because all members wait once the last one has come."""
        if alpha > 0:
            part = part.detach().float()
            self._distances.append([float(torch.dist(part, other)) for other in self._parts])
            self._parts.append(part)
            self._weights.append(alpha)

    def div_(self, total: float) -> torch.Tensor:
        """The centre; without samples the mean that hivemind makes of nothing, which is not finite."""
        if not self._parts:
            return self._nothing.div_(total)
        shares = self._shares()
        # By the largest, so that equal shares are exactly 1 and the order of the sum does not matter.
        centre, largest = torch.zeros_like(self._parts[0]), shares.max()
        for part, share in zip(self._parts, shares, strict=True):
            centre.add_(part, alpha=float(share / largest))
        return centre.mul_(float(largest))

    def _shares(self) -> np.ndarray:
        weights = np.array(self._weights)
        if len(weights) <= 2:
            return _of_two(np.array([float(part.norm()) for part in self._parts]), weights)
        squares = np.zeros((len(weights), len(weights)))
        squares[np.tril_indices(len(weights), -1)] = np.square(list(chain(*self._distances)))
        return shares_of(squares + squares.T, weights)


def centered_clip(parts: Sequence[torch.Tensor], weights: Sequence[float]) -> torch.Tensor:
    """The centre of finite parts of one shape; weights are above zero."""
    collected = CollectedParts(torch.empty(0))
    for part, weight in zip(parts, weights, strict=True):
        collected.add_(part, alpha=weight)
    return collected.div_(sum(weights))


def shares_of(squares: np.ndarray, weights: np.ndarray, far: float = FAR) -> np.ndarray:
    """How much of the centre each of at least three points is, from the squares of the distances between them."""
    clip = clip_of(squares, weights, far)
    shares: np.ndarray = clip.weights / clip.weights.sum()
    if (clip.factors(_distances(squares, shares)) == 1)[clip.weights > 0].all():
        return shares
    # From where most of the others are near.
    shares = np.eye(len(weights))[clip.start]
    for _ in range(_MOST_STEPS):
        before, shares = shares, clip.weights * clip.factors(_distances(squares, shares))
        shares /= shares.sum()
        if np.abs(shares - before).max() < _NEAR:
            break
    return shares


@dataclass(frozen=True)
class Clip:
    """How far each member may pull the centre."""

    weights: np.ndarray
    """0 for members that are too far from the others."""
    lengths: np.ndarray
    """To which the difference of each member from the centre is clipped."""
    start: int
    """The member that is nearest to most others."""

    def factors(self, distances: np.ndarray) -> np.ndarray:
        """What is left of differences of this length."""
        return _clipped(distances, self.lengths)


def clip_of(squares: np.ndarray, weights: np.ndarray, far: float = FAR) -> Clip:
    """Of at least three members, from the squares of the distances between them. `far`: times the usual deviation."""
    deviations = _deviations(squares, weights)
    usual = _median(deviations, weights)
    counted = np.where(deviations <= far * usual, weights, 0.0)
    return Clip(counted, _LONGEST * usual / np.sqrt(weights), int(np.argmin(deviations)))


def _deviations(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What each member's distances to the others say of the deviation of one sample.

    Its own weight is part of the half that has to be near: without it, one with less than half of all samples could be
    most of the others of each, and all would seem to be as far from each other as from that one.
    """
    pairs = np.sqrt(squares / (1 / weights[:, None] + 1 / weights))
    np.fill_diagonal(pairs, -1.0)
    # Each itself comes first, and is not far enough, however much it weighs.
    order = np.argsort(pairs, axis=1)[:, 1:]
    near = weights[:, None] + np.cumsum(weights[order], axis=1)
    last = np.argmax(near > weights.sum() / 2 * (1 + _NEAR), axis=1)
    rows = np.arange(len(weights))
    deviations: np.ndarray = pairs[rows, order[rows, last]]
    return deviations


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest value such that all up to it have half of the weight."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2 * (1 - _NEAR))])


def _clipped(distances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    factors: np.ndarray = np.divide(lengths, distances, out=np.ones(len(lengths)), where=distances > lengths)
    return factors


def _distances(squares: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Of each point to the sum of all by their shares, which are 1 together."""
    towards = squares @ shares
    distances: np.ndarray = np.sqrt(np.maximum(0.0, towards - shares @ towards / 2))
    return distances


def _of_two(norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if len(norms) < 2:
        return np.ones(1)
    # The one with fewer samples may deviate more.
    most = _OF_TWO * norms[::-1] * np.sqrt(np.maximum(1.0, weights[::-1] / weights))
    shares: np.ndarray = weights / weights.sum() * _clipped(norms, most)
    return shares

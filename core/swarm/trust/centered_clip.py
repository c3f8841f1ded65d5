"""An average that a minority cannot move far: CenteredClip (Karimireddy, He and Jaggi 2021). Pure.

What a member sends is pulled to a centre until it is as near as honest members are: the centre v is where the clipped
differences min(1, t_i / |x_i - v|) (x_i - v), weighted by samples, add up to zero. As long as no difference is longer
than t_i, that is the weighted mean.

How near honest members are follows from what they sent. The gradient of w samples deviates by s / sqrt(w), and the
gradients of two members by s sqrt(1 / w_i + 1 / w_j): every pair is an estimate of s. Taken is the weighted median of
each member's weighted median, which a minority by samples moves neither beyond the honest estimates nor below them;
and t_i = LONGEST * s / sqrt(w_i). It does not depend on the centre, so the centre is unique: the minimum of a convex
function.

Of two members no median says which one is right: each is shortened to at most `_OF_TWO` times the norm of the other.
"""

from collections.abc import Sequence

import numpy as np
import torch

LONGEST = 1.25
"""Of the usual deviation: honest members are not all alike."""
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

    def add_(self, part: torch.Tensor, *, alpha: float) -> None:
        """The part of one more member."""
        if alpha > 0:
            self._parts.append(part)
            self._weights.append(alpha)

    def div_(self, total: float) -> torch.Tensor:
        """The centre; without samples the mean that hivemind makes of nothing, which is not finite."""
        if not self._parts:
            return self._nothing.div_(total)
        return centered_clip(self._parts, self._weights)


def centered_clip(parts: Sequence[torch.Tensor], weights: Sequence[float]) -> torch.Tensor:
    """The centre of finite parts of one shape; weights are above zero."""
    points = torch.stack([part.detach().float().flatten() for part in parts])
    shares = shares_of(points, np.array(weights))
    return (torch.from_numpy(shares).float() @ points).view(parts[0].shape)


def shares_of(points: torch.Tensor, weights: np.ndarray) -> np.ndarray:
    """How much of the centre each point is."""
    if len(points) <= 2:
        return _of_two(points.double().norm(dim=1).numpy(), weights)
    squares = _squared_distances(points)
    lengths = most_lengths(squares, weights)
    shares: np.ndarray = weights / weights.sum()
    if (_distances(squares, shares) <= lengths).all():
        return shares
    # From where most of the others are near, it takes few steps also if somebody is very far away.
    shares = np.zeros(len(points))
    shares[np.argmin(_deviations(squares, weights))] = 1.0
    for _ in range(_MOST_STEPS):
        before, shares = shares, weights * _factors(_distances(squares, shares), lengths)
        shares /= shares.sum()
        if np.abs(shares - before).max() < _NEAR:
            break
    return shares


def most_lengths(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """To which length the difference of each member from the centre is clipped.

    Args:
        squares: of the distances between members, of which there are at least three.
    """
    lengths: np.ndarray = LONGEST * _median(_deviations(squares, weights), weights) / np.sqrt(weights)
    return lengths


def _deviations(squares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """What each member's distances to the others say of the deviation of one sample."""
    pairs = np.sqrt(squares / (1 / weights[:, None] + 1 / weights))
    others = ~np.eye(len(weights), dtype=bool)
    return np.array([_median(pairs[row, others[row]], weights[others[row]]) for row in range(len(weights))])


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The smallest value such that all up to it have half of the weight."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2 * (1 - _NEAR))])


def _factors(distances: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    factors: np.ndarray = np.divide(lengths, distances, out=np.ones(len(lengths)), where=distances > lengths)
    return factors


def _distances(squares: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Of each point to the sum of all by their shares, which are 1 together."""
    towards = squares @ shares
    distances: np.ndarray = np.sqrt(np.maximum(0.0, towards - shares @ towards / 2))
    return distances


def _squared_distances(points: torch.Tensor) -> np.ndarray:
    count = len(points)
    squares = np.zeros((count, count))
    squares[np.triu_indices(count, 1)] = torch.pdist(points).double().numpy() ** 2
    return squares + squares.T


def _of_two(norms: np.ndarray, weights: np.ndarray) -> np.ndarray:
    if len(norms) < 2:
        return np.ones(1)
    # The one with fewer samples may deviate more.
    most = _OF_TWO * norms[::-1] * np.sqrt(np.maximum(1.0, weights[::-1] / weights))
    shares: np.ndarray = weights / weights.sum() * _factors(norms, most)
    return shares

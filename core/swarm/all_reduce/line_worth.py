"""Whether a run is faster with a peer than without it. Pure.

A round lasts as long as its slowest line needs, and peers wait for it unless they compute the next batch meanwhile; a
peer shortens the time in which the batch fills. Where its line costs the others more time than its samples save them,
it is better not to take part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.swarm.all_reduce.load_balancing import shares
from core.swarm.errors import LineTooSlow

_MARGIN = 1.1
"""By how much a peer may delay the run: bandwidths and speeds are estimates."""
_ROUNDS = 5
"""In a row that a peer delays the run before it leaves: a line that is busy for a moment is none to give up."""


@dataclass(frozen=True)
class Line:
    """Of a member of a group, as it says."""

    bandwidth: float
    """Bytes per second."""
    can_reduce: bool
    """Whether others can call it."""


@dataclass(frozen=True)
class Speed:
    """Of one peer or of several, in samples per second."""

    training: float
    in_rounds: float = 0.0
    """While a round runs: nothing of peers that wait for it."""

    def __add__(self, other: "Speed") -> "Speed":
        return Speed(self.training + other.training, self.in_rounds + other.in_rounds)

    def update_takes(self, batch: float, round_takes: float) -> float:
        """Seconds from one update to the next."""
        return round_takes + max(0.0, batch - self.in_rounds * round_takes) / self.training


def least_time(size: float, lines: Sequence[Line]) -> float:
    """Seconds that a round of `size` bytes takes if all lines are used as `shares` has it, headers not counted."""
    if len(lines) < 2 or not any(line.can_reduce and line.bandwidth for line in lines):
        return 0.0
    shared = shares([line.bandwidth if line.can_reduce else 0.0 for line in lines])
    busy = [(1 + (len(lines) - 2) * share, line.bandwidth) for share, line in zip(shared, lines, strict=True)]
    return size * max(load / bandwidth if bandwidth else float("inf") for load, bandwidth in busy)


class LineWorth:
    """Of one peer, over its rounds.

    Parameters:
        batch: samples of an update.
    """

    def __init__(self, batch: int) -> None:
        self._batch, self._rounds = batch, 0

    def add_round(self, size: float, own: Line, others: Sequence[Line], own_speed: Speed, others_speed: Speed) -> None:
        """A round has ended in which each averaged so many bytes.

        Raises:
            LineTooSlow: the run has waited for this peer's line too long, and too often.
        """
        if not others_speed.training or own.bandwidth >= min((line.bandwidth for line in others), default=0.0):
            # It is another one's line that they wait for, and the last two peers must not both leave.
            self._rounds = 0
            return
        without = others_speed.update_takes(self._batch, least_time(size, others))
        together = (own_speed + others_speed).update_takes(self._batch, least_time(size, [own, *others]))
        self._rounds = self._rounds + 1 if together > _MARGIN * without else 0
        if self._rounds >= _ROUNDS:
            raise LineTooSlow("line_too_slow", together=together, without=without)

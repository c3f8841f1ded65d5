"""How often the backbone reads what the peers publish: each reading costs every peer that keeps it some kilobytes."""

_COME_WITHIN = 5.0
"""Seconds after an update in which the peers' statements of it come."""
_OFTEN, _SELDOM = 2.0, 15.0
"""Seconds from one reading to the next in that time, and while the peers only compute."""
_FEW = 2
"""Trainers; while there are fewer, the next one is awaited."""


class PollPace:
    """Of one backbone, which asks once a second whether to read. Times are of a steady clock."""

    def __init__(self) -> None:
        self._epoch, self._often_until, self._read_at = -1, 0.0, float("-inf")

    def is_due(self, now: float, epoch: int, trainers: int) -> bool:
        """Whether to read at `now`, with the run in this epoch; so many trainers were there the last time."""
        if epoch != self._epoch or trainers < _FEW:
            self._epoch, self._often_until = epoch, now + _COME_WITHIN
        if now >= self._read_at + (_OFTEN if now < self._often_until else _SELDOM):
            self._read_at = now
            return True
        return False

"""Whether the evaluation losses of a run show that its state was spoilt. Pure."""

import math

_JUMP = 1.2
"""Times the evaluation loss before; on the same data, that of a run that learns hardly ever rises."""
_RETURNS = 3
"""To a good state, without a better loss than ever in between: then the cause is the run itself."""


class JumpDetector:
    """Judges one evaluation after the other.

    Parameters:
        good: the loss of the state that the run begins with, if it is known.
    """

    def __init__(self, good: float | None = None) -> None:
        self.good = self._best = good
        self._returns = 0

    def has_jumped(self, loss: float) -> bool:
        """Whether the state with this loss is no longer good."""
        if not math.isfinite(loss) or (self.good is not None and loss > _JUMP * self.good):
            return True
        if self._best is None or loss < self._best:
            self._best, self._returns = loss, 0
        self.good = loss
        return False

    def may_return(self) -> bool:
        """Whether the run should go back once more."""
        self._returns += 1
        return self._returns <= _RETURNS

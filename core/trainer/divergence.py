"""Whether the loss has diverged. Pure.

The rule: a loss that is not finite has diverged. A finite loss has diverged when four microbatches in a row were above
three times the median of the last 64 good ones; as long as there are fewer than 16 good ones, no finite loss has.
"""

import math
import statistics
from collections import deque

from core.api.message import Message

_REMEMBERED = 64
_ENOUGH = 16
_FACTOR = 3.0
_IN_A_ROW = 4


class DivergenceDetector:
    """Judges the loss of each microbatch before its gradients count."""

    def __init__(self) -> None:
        self._good: deque[float] = deque(maxlen=_REMEMBERED)
        self._high = 0
        self.good_in_a_row = 0

    @property
    def is_steady(self) -> bool:
        """Whether the last loss was good."""
        return self._high == 0

    def judge(self, loss: float) -> Message | None:
        """The problem; None: the loss is good, or not known to be bad."""
        if not math.isfinite(loss):
            self._high += 1
            self.good_in_a_row = 0
            return Message("loss_not_finite")
        median = statistics.median(self._good) if len(self._good) >= _ENOUGH else None
        if median is None or loss <= _FACTOR * median:
            self._good.append(loss)
            self._high = 0
            self.good_in_a_row += 1
            return None
        self._high += 1
        self.good_in_a_row = 0
        if self._high < _IN_A_ROW:
            return None
        return Message("loss_too_high", {"loss": loss, "usual": median})

    def forget_high_losses(self) -> None:
        """The session is back at a good state: losses from before do not concern it."""
        self._high = 0

"""How much of a peer's time its rounds take. Pure: the clock is passed in."""

from collections import deque
from typing import Literal

Overlap = Literal["auto", "always", "never"]

WORTH_OVERLAPPING = 0.1
"""Share of its time from which a peer computes on during its rounds: below it, the older gradients gain nothing."""
_EPOCHS = 5
"""That are looked at: a single slow round changes nothing."""


class RoundShare:
    """Of one peer, over its last epochs."""

    def __init__(self) -> None:
        self._epochs: deque[tuple[float, float]] = deque(maxlen=_EPOCHS)
        self._last: float | None = None

    def add_update(self, round_took: float, now: float) -> None:
        """An update was made at `now` (steady clock), after a round of so many seconds."""
        if self._last is not None:
            self._epochs.append((round_took, now - self._last))
        self._last = now

    def pause(self) -> None:
        """The time until the next update is none of an epoch's."""
        self._last = None

    @property
    def value(self) -> float:
        """0 until it is known."""
        rounds, epochs = (sum(seconds) for seconds in zip(*self._epochs, strict=True)) if self._epochs else (0.0, 0.0)
        return rounds / epochs if epochs else 0.0

    def is_worth(self, overlap: Overlap) -> bool:
        """Whether this peer is to compute on during its rounds."""
        return overlap == "always" or (overlap == "auto" and self.value > WORTH_OVERLAPPING)

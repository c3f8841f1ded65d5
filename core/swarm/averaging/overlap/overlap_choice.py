"""Whether a peer computes on during its rounds: by what it has computed in a while with and without. Pure: the clock is
passed in.

Where training and averaging share processors, a round with training beside it takes longer, and so do the microbatches.
How much nobody can tell in advance: it depends on cards, cores, codecs and lines.
"""

from collections import deque
from statistics import median
from typing import Literal

Overlap = Literal["auto", "always", "never"]

WORTH_OVERLAPPING = 0.1
"""Share of its time that a peer's rounds take from which computing on is tried."""
_GAIN = 1.05
"""Times the samples per second without: below it, the older gradients gain nothing."""
_EPOCHS = 5
"""That are looked at: a single slow round changes nothing."""
_AGAIN = 100
"""Updates after which the other way is tried once more: other programs and other peers come and go."""


class OverlapChoice:
    """Of one peer, over its last epochs."""

    def __init__(self) -> None:
        self._epochs: deque[tuple[float, float]] = deque(maxlen=_EPOCHS)
        self._rates: deque[float] = deque(maxlen=_EPOCHS)
        """Samples per second in the last epochs of the present way."""
        self._last: float | None = None
        self._updates, self._overlaps = 0, False
        self._found = dict[bool, tuple[float, int]]()
        """Samples per second with and without, and at which update that was last known."""

    def add_update(self, round_took: float, now: float, samples: int, *, overlapped: bool) -> None:
        """An update of so many own samples was made at `now` (steady clock), after a round of so many seconds."""
        self._updates += 1
        if self._last is not None:
            self._epochs.append((round_took, now - self._last))
            if overlapped == self._overlaps:
                self._rates.append(samples / (now - self._last))
        self._last = now
        if len(self._rates) == _EPOCHS:
            self._found[self._overlaps] = median(self._rates), self._updates
            self._go_on(self._choose())

    def pause(self) -> None:
        """The time until the next update is none of an epoch's."""
        self._last = None

    @property
    def value(self) -> float:
        """The share of its time that this peer's rounds take; 0 until it is known."""
        rounds, epochs = (sum(seconds) for seconds in zip(*self._epochs, strict=True)) if self._epochs else (0.0, 0.0)
        return rounds / epochs if epochs else 0.0

    def is_worth(self, overlap: Overlap) -> bool:
        """Whether this peer is to compute on during its rounds."""
        return overlap == "always" or (overlap == "auto" and self._overlaps)

    def _choose(self) -> bool:
        if self.value <= WORTH_OVERLAPPING:
            return False
        _rate, known_at = self._found.get(not self._overlaps, (0.0, -_AGAIN))
        if self._updates - known_at >= _AGAIN:
            return not self._overlaps
        return self._found[True][0] > _GAIN * self._found[False][0]

    def _go_on(self, overlaps: bool) -> None:
        if overlaps != self._overlaps:
            self._overlaps = overlaps
            self._rates.clear()

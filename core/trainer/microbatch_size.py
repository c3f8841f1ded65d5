"""How many samples are computed at once: what the project declares, or less where memory or latency require that."""

_NEWEST_COUNTS = 0.3
"""Weight of the last microbatch in the smoothed time per sample."""
_SURELY = 1.25
"""How many times as many samples have to fit until there are more."""
_WORTH_MEASURING = 1.1
"""Likewise, until it is measured what more of them take."""


class Size:
    """Chooses the number of samples of the next microbatch."""

    def __init__(self, largest: int, least: int = 1, *, has_limit: bool = False) -> None:
        """`largest` is the project's size, `least` the task's, unless the project's is smaller. With a limit of memory
        it begins with the least, since only what samples take shows how many fit."""
        self._declared, self._least, self._has_limit = largest, min(least, largest), has_limit
        self._per_sample: float | None = None
        self._chosen = self._least
        self.find()

    @property
    def most(self) -> int:
        """Samples that fit into the memory at once, as far as is known."""
        return self._most

    @property
    def most_of_twice(self) -> int:
        """Likewise, if each took twice as much."""
        return min(self._most, self._fitting // 2)

    def find(self) -> None:
        """Begin again to find what fits."""
        self._most = self._least if self._has_limit else self._declared
        self._measured = 0 if self._has_limit else self._declared
        self._fitting = 0 if self._has_limit else 2 * self._declared

    def next(self, latency_target: int) -> int:
        """`latency_target` is in milliseconds; 0: none."""
        if not latency_target:
            return self._most
        if self._per_sample is None:
            return self._least
        fitting = latency_target / 1000 / self._per_sample
        if not self._chosen <= fitting < max(self._chosen + 1, self._chosen * _SURELY):
            # Not with every small change: what is said of equal pieces is short.
            self._chosen = int(fitting)
        return max(self._least, min(self._most, self._chosen))

    def record(self, samples: int, seconds: float) -> None:
        newest = seconds / samples
        before = self._per_sample or newest
        self._per_sample = before + (newest - before) * _NEWEST_COUNTS

    def is_unknown(self, samples: int) -> bool:
        """Whether so many have never been computed at once."""
        return samples > self._measured

    def fit(self, samples: int, taken: int, room: int) -> bool:
        """So many samples took so many bytes, where there is `room` for some. False if it is too little for the least.

        Part of what they took is the same for any number, so more are no larger than this says.
        """
        fitting = self._fitting = samples * room // max(1, taken)
        if fitting < self._least:
            return False
        self._measured = samples
        if not samples <= fitting < _WORTH_MEASURING * samples:
            parts = -(-self._declared // min(fitting, self._declared))
            # Equal parts of a batch of the project: what is left of it must not be less than the least.
            self._most = -(-self._declared // parts)
            if self._most < self._least:
                # Larger parts, then, and fewer.
                self._most = -(-self._declared // (parts - 1))
                return self._most <= fitting
        return True

    def halve(self, samples: int) -> bool:
        """Halve the size, because memory was too small for `samples`. False if it is too small even for the least."""
        if samples < 2 * self._least:
            return False
        self._most = samples // 2
        return True

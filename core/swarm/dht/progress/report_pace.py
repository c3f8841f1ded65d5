"""When a peer reports its samples again: when the others would expect something else, and else now and then.

They extrapolate from its last report, at the speed that it told (dead reckoning, as in IEEE 1278.1). A report costs six
calls, all peers read it, and hivemind sends one after each microbatch.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hivemind.utils.performance_ema import PerformanceEMA

_SOONEST, LATEST = 2.0, 10.0
"""Seconds from a report to one that corrects it, and to the next one of a peer that goes on as expected: who is silent
for twice that seems to have vanished."""
_TOLERATED = 0.01
"""Share of the whole batch by which what the others expect of one peer may be wrong."""


@dataclass(frozen=True)
class Reported:
    """What a peer reported last, and when."""

    samples: int = 0
    samples_per_second: float = 0.0
    at: float = float("-inf")

    def is_outdated(self, samples: int, now: float, *, batch: int, step: int) -> bool:
        """Whether it is time for another report, of an epoch that the others know of.

        Args:
            batch: samples of an update, by all peers.
            step: samples that this peer adds at once.
        """
        waited = now - self.at
        expected = self.samples + self.samples_per_second * waited
        is_wrong = abs(samples - expected) > max(step / 2, _TOLERATED * batch)
        return waited >= LATEST or (waited >= _SOONEST and is_wrong)

    def promises_too_much(self, samples: int, now: float, *, batch: int, step: int) -> bool:
        """Whether the others count on more than a peer has that rests, and on more than the samples it is at."""
        waited = now - self.at
        surplus = self.samples + self.samples_per_second * waited - samples - step
        return waited >= _SOONEST and surplus > max(step / 2, _TOLERATED * batch)


class GuardedEvent(threading.Event):
    """That hivemind's reporter waits for: set only if a report was allowed before."""

    _is_allowed = False

    def allow(self) -> None:
        self._is_allowed = True

    def set(self) -> None:
        if self._is_allowed:
            self._is_allowed = False
            super().set()


class WorkingSpeed(PerformanceEMA):
    """Samples per second of a peer that may rest between two microbatches, without the time that its rounds take.

    hivemind measures from the end of a round. A microbatch in the middle of which the round came, while its peer
    rested, then seems quick: the others count on too many samples and begin the next round too early, which makes it
    worse.
    """

    timestamp: float
    paused: bool
    samples_per_second: float
    step = 0
    """Samples that came last."""

    @property
    def present(self) -> float:
        """What the others may count on if nothing has come for a while: as if the next samples came now."""
        return min(self.samples_per_second, self.step / max(time.perf_counter() - self.timestamp, 1e-6))

    def update(self, task_size: float, interval: float | None = None) -> float:
        self.step = int(task_size)
        return float(super().update(task_size, interval))

    @contextmanager
    def pause(self) -> Iterator[None]:
        """While inside this context, time does not count; what has passed of a microbatch does."""
        passed, was_paused, self.paused = time.perf_counter() - self.timestamp, self.paused, True
        try:
            yield
        finally:
            self.paused, self.timestamp = was_paused, time.perf_counter() - passed

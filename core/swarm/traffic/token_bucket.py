"""A ceiling in bytes per second that several processes keep together.

A token bucket (RFC 2697, section 1): bytes are earned at the rate and spent by whoever sends or fetches, first come,
first served. Its state lies in shared memory, so it is made before the first process is forked.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Callable
from threading import Event

_DEPTH = 0.1
"""Seconds of the rate that an idle line saves up: a burst of that size at most."""
_LONGEST_SLEEP = 0.1
"""Seconds after which a waiter looks at the rate again: so fast a changed ceiling takes effect."""
_NEVER = Event()


class TokenBucket:
    """Bytes earned and bytes spent since the beginning. `clock` is any steady clock that all processes share."""

    def __init__(self, rate: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = multiprocessing.Lock()
        self._rate = multiprocessing.RawValue("d", rate)
        self._earned = multiprocessing.RawValue("d", 0.0)
        self._spent = multiprocessing.RawValue("d", 0.0)
        self._at = multiprocessing.RawValue("d", clock())

    @property
    def rate(self) -> float:
        """Bytes per second; 0 is no ceiling."""
        return float(self._rate.value)

    @rate.setter
    def rate(self, rate: float) -> None:
        with self._lock:
            self._earn()
            self._rate.value = rate

    def spend(self, count: int) -> float:
        """Book `count` bytes at once and return the place in the queue that they have: see `delay`."""
        with self._lock:
            self._earn()
            place = self._spent.value
            self._spent.value += count
            return float(place)

    def delay(self, place: float) -> float:
        """Seconds until all that was booked before `place` is earned, at the present rate; 0 without a ceiling."""
        with self._lock:
            self._earn()
            missing = place - self._earned.value
        return max(0.0, missing / self.rate) if self.rate else 0.0

    @property
    def debt(self) -> float:
        """Seconds until all that is booked is earned."""
        return self.delay(self._spent.value)

    async def pass_through(self, count: int) -> None:
        """Wait for one's turn to move `count` bytes."""
        place = self.spend(count)
        while delay := self.delay(place):  # noqa: ASYNC110 - other processes spend too, and set no event here
            await asyncio.sleep(min(delay, _LONGEST_SLEEP))

    def block(self, count: int, stop: Event = _NEVER) -> None:
        """Likewise on a thread, until `stop` is set."""
        place = self.spend(count)
        while (delay := self.delay(place)) and not stop.wait(min(delay, _LONGEST_SLEEP)):
            pass

    def _earn(self) -> None:
        now = self._clock()
        earned = self._earned.value + self.rate * max(0.0, now - self._at.value)
        # Without a ceiling nothing is owed, so that a new one does not begin with a debt.
        most = self._spent.value + self.rate * _DEPTH
        self._earned.value = min(earned, most) if self.rate else most
        self._at.value = now

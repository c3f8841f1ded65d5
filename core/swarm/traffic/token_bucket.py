"""A ceiling in bytes per second that several processes keep together.

A token bucket (RFC 2697, section 1): tokens come in at the rate, and a sender or receiver consumes one for each
byte, first come, first served. Its state lies in shared memory, so it is made before the first process is forked.
"""

import asyncio
import multiprocessing
import time
from collections.abc import Callable
from threading import Event

_BURST = 0.1
"""Seconds of the rate that an idle bucket saves up."""
_LONGEST_SLEEP = 0.1
"""Seconds after which a waiter reads the rate again: so fast a changed ceiling takes effect."""
_NEVER = Event()


class TokenBucket:
    """Tokens produced and consumed since the beginning. `clock` is any steady clock that all processes share."""

    def __init__(self, rate: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = multiprocessing.Lock()
        self._rate = multiprocessing.RawValue("d", rate)
        self._produced = multiprocessing.RawValue("d", 0.0)
        self._consumed = multiprocessing.RawValue("d", 0.0)
        self._at = multiprocessing.RawValue("d", clock())

    @property
    def rate(self) -> float:
        """Bytes per second; 0 is no ceiling."""
        return float(self._rate.value)

    @rate.setter
    def rate(self, rate: float) -> None:
        with self._lock:
            self._produce()
            self._rate.value = rate

    def consume(self, count: int) -> float:
        """Take `count` tokens, also those that are still to come. Returns the position in the queue: see `delay`."""
        with self._lock:
            self._produce()
            position = self._consumed.value
            self._consumed.value += count
            return float(position)

    def delay(self, position: float) -> float:
        """Seconds until there are tokens up to `position`, at the present rate; 0 without a ceiling."""
        with self._lock:
            self._produce()
            missing = position - self._produced.value
        return max(0.0, missing / self.rate) if self.rate else 0.0

    @property
    def debt(self) -> float:
        """Seconds until there are tokens for everything that was consumed."""
        return self.delay(self._consumed.value)

    async def wait_for(self, count: int, ahead: float = 0.0) -> None:
        """Wait until it is the turn of `count` bytes, or will be in `ahead` seconds."""
        position = self.consume(count)
        while (delay := self.delay(position)) > ahead:  # noqa: ASYNC110 - other processes consume too, and set no event here
            await asyncio.sleep(min(delay - ahead, _LONGEST_SLEEP))

    def block_for(self, count: int, stop: Event = _NEVER) -> None:
        """Likewise on a thread, until `stop` is set."""
        position = self.consume(count)
        while (delay := self.delay(position)) and not stop.wait(min(delay, _LONGEST_SLEEP)):
            pass

    def _produce(self) -> None:
        now = self._clock()
        produced = self._produced.value + self.rate * max(0.0, now - self._at.value)
        # Without a ceiling nothing is owed, so that a new one does not begin with a debt.
        most = self._consumed.value + self.rate * _BURST
        self._produced.value = min(produced, most) if self.rate else most
        self._at.value = now

"""Where a sensor gets its value: a chain of sources, of which the first that answers is in use."""

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from core.api.sensors import Attempt

RETRY = 30.0
"""Seconds until a source that could not answer is asked again."""
LINGER = 10.0
"""Seconds that the last value counts while the source in use misses its answers: a busy desktop is not a dead one."""

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


class NotAvailable(Exception):
    """This source has no answer on this computer, or none now; the text says why, without a full stop."""


class Source(Protocol[Value_co]):
    """One way to learn something. `retry` is the time in seconds to its next chance after it had no answer."""

    name: str
    retry: float

    def read(self) -> Value_co:
        """Raises NotAvailable."""
        ...


class Chain(Generic[Value]):
    """Sources in order of trust. Not for use by two threads at once."""

    def __init__(self, sources: Sequence[Source[Value]], tick: Callable[[], float]) -> None:
        """`tick` is a clock that is never set, in seconds."""
        self._sources = sources
        self._tick = tick
        self._rests: dict[str, float] = {}
        self._outcomes: dict[str, str] = {}
        self._value: Value | None = None
        self._answered_at = 0.0
        self.in_use: str | None = None

    def read(self) -> Value | None:
        """What the first source that answers says; None if none does."""
        for source in self._sources:
            now = self._tick()
            if now < self._rests.get(source.name, now):
                continue
            try:
                value = source.read()
            except NotAvailable as why:
                self._outcomes[source.name] = str(why)
                if source.name == self.in_use and now < self._answered_at + LINGER:
                    return self._value
                self._rests[source.name] = now + source.retry
                continue
            self.in_use, self._value, self._answered_at = source.name, value, now
            return value
        self.in_use = self._value = None
        return None

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """What came of each source, in their order."""
        return tuple(Attempt(source.name, self._outcome(source.name)) for source in self._sources)

    def _outcome(self, name: str) -> str:
        return "in use" if name == self.in_use else self._outcomes.get(name, "not needed")


class Latch:
    """Sets in at once and lets go only after a while: what comes and goes quickly counts as staying."""

    def __init__(self, seconds: float, tick: Callable[[], float]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._seen_at: float | None = None

    def holds(self, seen: bool) -> bool:
        if seen:
            self._seen_at = self._tick()
        return self._seen_at is not None and (seen or self._tick() < self._seen_at + self._seconds)

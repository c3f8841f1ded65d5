"""A sensor's sources: a chain of which the first that answers is used."""

import errno
import os
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, TypeVar

from core.api.errors import IdlehiveError
from core.api.message import Message
from core.api.sensors import IN_USE, NOT_NEEDED, Attempt

RETRY = 30.0
"""Seconds until a source that failed is asked again."""
LINGER = 10.0
"""Seconds that the last value stays valid while the source misses answers: a busy desktop is not a dead one."""

Value = TypeVar("Value")
Value_co = TypeVar("Value_co", covariant=True)


class NotAvailable(IdlehiveError):
    """This source has no answer on this computer, or none now."""


def connected(path: str, timeout: float) -> socket.socket:
    """A connection to a service's Unix socket, with a time limit in seconds for each answer. Raises OSError."""
    if sys.platform == "win32":
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(timeout)
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


class Source(Protocol[Value_co]):
    """One way to read a value. `retry`: seconds until it is asked again after a failure."""

    name: str
    retry: float

    def read(self) -> Value_co:
        """Raises NotAvailable."""
        ...


class Chain(Generic[Value]):
    """Sources in order of trust. Not thread-safe."""

    def __init__(self, sources: Sequence[Source[Value]], tick: Callable[[], float]) -> None:
        """`tick` is a monotonic clock, in seconds."""
        self._sources = sources
        self._tick = tick
        self._rests: dict[str, float] = {}
        self._outcomes: dict[str, Message] = {}
        self._value: Value | None = None
        self._answered_at = 0.0
        self.in_use: str | None = None

    def read(self) -> Value | None:
        """The answer of the first source that has one, or None."""
        for source in self._sources:
            now = self._tick()
            if now < self._rests.get(source.name, now):
                continue
            try:
                value = source.read()
            except NotAvailable as why:
                self._outcomes[source.name] = why.message
                if source.name == self.in_use and now < self._answered_at + LINGER:
                    return self._value
                self._rests[source.name] = now + source.retry
                continue
            self.in_use, self._value, self._answered_at = source.name, value, now
            return value
        self.in_use = self._value = None
        return None

    @property
    def announces(self) -> bool:
        """Whether changes are announced, so that asking more often than now and then finds no more."""
        return all(getattr(source, "announces", False) for source in self._sources if source.name == self.in_use)

    @property
    def tried(self) -> tuple[Attempt, ...]:
        """The outcome of each source, in order."""
        return tuple(Attempt(source.name, self._outcome(source.name)) for source in self._sources)

    def _outcome(self, name: str) -> Message:
        return IN_USE if name == self.in_use else self._outcomes.get(name, NOT_NEEDED)


class Latch:
    """Hysteresis: becomes true at once and false only after a delay, so that short interruptions do not count."""

    def __init__(self, seconds: float, tick: Callable[[], float]) -> None:
        self._seconds = seconds
        self._tick = tick
        self._seen_at: float | None = None

    def holds(self, seen: bool) -> bool:
        if seen:
            self._seen_at = self._tick()
        return self._seen_at is not None and (seen or self._tick() < self._seen_at + self._seconds)

"""Sensors as `doctor` and the limits page show them."""

import msgspec

from core.api.message import Message

IN_USE = Message("source_in_use")
NOT_NEEDED = Message("source_not_needed")


class GetSensors(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of SensorInfo."""


class Attempt(msgspec.Struct, frozen=True):
    """One source of a sensor: it is in use, not needed, or gives no answer for a reason."""

    source: str
    outcome: Message


class SensorInfo(msgspec.Struct, frozen=True):
    """A sensor and its present value."""

    name: str
    value: Message
    known: bool
    """False: no source answers."""
    tried: tuple[Attempt, ...] = ()
    """All sources in order of trust."""

    @property
    def in_use(self) -> tuple[str, ...]:
        """The sources in use; two if a sensor needs both, none if none answers."""
        return tuple(attempt.source for attempt in self.tried if attempt.outcome == IN_USE)

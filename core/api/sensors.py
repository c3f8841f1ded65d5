"""What the program knows of the machine and from where, as `doctor` and the limits page show it."""

import msgspec


class GetSensors(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of SensorInfo (`core.api.sensors`)."""


class Attempt(msgspec.Struct, frozen=True):
    """One source of a sensor, and what came of it: `in use`, `not needed`, or why it has no answer."""

    source: str
    outcome: str


class SensorInfo(msgspec.Struct, frozen=True):
    """A sensor and its present value."""

    name: str
    value: str
    """One sentence, English."""
    known: bool
    """False: no source answers."""
    tried: tuple[Attempt, ...] = ()
    """All sources in order of trust."""

    @property
    def source(self) -> str | None:
        """The source in use; two if a sensor needs both."""
        return " and ".join(attempt.source for attempt in self.tried if attempt.outcome == "in use") or None

"""The rows of the contribution record: what each session gave, hour by hour."""

import msgspec

MOST_HOURS = 4000
"""Entries of one reply to `GetHistory`: about two megabytes."""


class GetHistory(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of Contribution, one per session and hour, oldest first, from `since` (UTC seconds) on.

    A reply with fewer than `MOST_HOURS` is the last one; else there may be more `after` its last entry.
    """

    since: float | None = None
    after: tuple[float, int] | None = None
    """Hour and session of the entry to go on behind."""


class Contribution(msgspec.Struct, frozen=True):
    """What one session gave in one hour (UTC)."""

    session: int
    project: str
    hour: float
    """Start of the hour, UTC seconds."""
    seconds: float
    samples: int
    rounds: int
    failed_rounds: int
    epochs: int
    cpu_seconds: float
    gpu_seconds: float
    joules: float | None
    """Measured; None: nothing was."""
    uploaded: int
    downloaded: int
    accepted: int | None = None
    """Samples that updates of the collaboration were made of; None: an older program did not record it."""
    flops: float | None = None
    """Floating-point operations; None: not counted."""
    processor_joules: float | None = None
    """The part of `joules` that the processor's counter told, the rest is the graphics card's."""
    estimated_joules: float | None = None
    """Beside `joules`, from watts that were told, not measured."""
    peers_met: int = 0
    """Peers that the session met for the first time in this hour."""
    averaging_up: int = 0
    """Bytes by kind; what is left of `uploaded` and `downloaded` an older program did not tell apart."""
    averaging_down: int = 0
    state_up: int = 0
    state_down: int = 0
    dht_up: int = 0
    dht_down: int = 0
    data_up: int = 0
    data_down: int = 0

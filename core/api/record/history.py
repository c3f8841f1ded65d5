"""The rows of the contribution record: what each session gave, hour by hour."""

import msgspec

from core.api.record.totals import Given

MOST_HOURS = 4000
"""Entries of one reply to `GetHistory`: about two megabytes."""


class GetHistory(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of Contribution, one per session and hour, oldest first, from `since` (UTC seconds) on.

    A reply with fewer than `MOST_HOURS` is the last one; else there may be more `after` its last entry.
    """

    since: float | None = None
    after: tuple[float, int] | None = None
    """Hour and session of the last entry that was read."""


class Contribution(Given, frozen=True, kw_only=True):
    """What one session gave in one hour (UTC)."""

    session: int
    project: str
    hour: float
    """Start of the hour, UTC seconds."""

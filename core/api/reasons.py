"""Why nothing is being contributed.

A reason demands either HOLD (stop computing, keep memory) or LEAVE (free everything) and says, if known, when it ends.
`decide` returns every reason that applies. `app.text.wordings.reasons` has their words.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from core.api.message import Param


class Kind(StrEnum):
    """Kinds that code treats differently from others: those of the volunteer's choice and of the session.

    All others are named only by the rule that yields them and by their words.
    """

    PAUSED = "paused"
    SNOOZED = "snoozed"
    OUTSIDE_SCHEDULE = "outside_schedule"
    NO_PROJECT = "no_project"
    GOING_TO_SLEEP = "going_to_sleep"
    WOKEN = "woken"
    BACKING_OFF = "backing_off"
    GAVE_UP = "gave_up"


OVERRIDABLE = frozenset(
    {
        Kind.OUTSIDE_SCHEDULE,
        "in_use",
        "full_screen",
        "program_running",
        "processor_busy",
        "on_battery",
        "battery_low",
        "metered",
        "data_cap",
        "network_hours",
    }
)
"""Kinds of reasons that follow from the volunteer's own limits: the volunteer may contribute anyway for a while."""


class Severity(StrEnum):
    """Whether the volunteer has to act."""

    QUIET = "quiet"
    """Expected: nothing to do."""
    NOTICE = "notice"
    """Ends by itself; worth knowing."""
    PROBLEM = "problem"
    """Needs the volunteer."""


class Reason(msgspec.Struct, frozen=True):
    """One reason not to contribute now."""

    kind: str
    """A `Kind`, or another one that has words: a test fails if it has none."""
    hold: bool
    """True: HOLD is enough. False: LEAVE."""
    params: Mapping[str, Param] = {}
    """Numbers are bytes, seconds, bytes per second or UTC seconds."""
    until: float | None = None
    """When it ends, UTC seconds; None: not known."""
    severity: Severity = Severity.QUIET

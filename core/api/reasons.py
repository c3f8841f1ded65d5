"""Why nothing is being contributed.

A reason demands either HOLD (stop computing, keep memory) or LEAVE (free everything) and says, if known, when it ends.
`decide` returns every reason that applies. `app.text.reasons` words them.
"""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from core.api.message import Param


class Kind(StrEnum):
    """A test fails for a kind without a wording."""

    PAUSED = "paused"
    SNOOZED = "snoozed"
    OUTSIDE_SCHEDULE = "outside_schedule"
    IN_USE = "in_use"
    FULL_SCREEN = "full_screen"
    PROGRAM_RUNNING = "program_running"
    ON_BATTERY = "on_battery"
    BATTERY_LOW = "battery_low"
    METERED = "metered"
    OFFLINE = "offline"
    DATA_CAP = "data_cap"
    NETWORK_HOURS = "network_hours"
    NETWORK_TOO_SLOW = "network_too_slow"
    GPU_TAKEN = "gpu_taken"
    GPU_HOT = "gpu_hot"
    GPU_MISSING = "gpu_missing"
    GPU_MEMORY = "gpu_memory"
    GPU_CHANGED = "gpu_changed"
    GOING_TO_SLEEP = "going_to_sleep"
    WOKEN = "woken"
    NO_PROJECT = "no_project"
    BACKING_OFF = "backing_off"
    GAVE_UP = "gave_up"


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

    kind: Kind
    hold: bool
    """True: HOLD is enough. False: LEAVE."""
    params: Mapping[str, Param] = {}
    """Numbers are bytes, seconds, bytes per second or UTC seconds."""
    until: float | None = None
    """When it ends, UTC seconds; None: not known."""
    severity: Severity = Severity.QUIET

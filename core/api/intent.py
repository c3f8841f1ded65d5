"""What a volunteer asks for: contribute, pause, go on."""

from typing import Literal

import msgspec

Override = Literal["next_edge", "resumed", "none"]


class Contribute(msgspec.Struct, frozen=True, tag=True):
    """Start or go on contributing. Clears a pause. Reply: null.

    `project` is an id, URL or manifest file: joined first if it is not yet. None takes the first joined project that
    can run, in the volunteer's order, and the practice project if none is joined.
    """

    project: str | None = None
    seconds: float | None = None
    """Stop after this long, whatever the schedule says until then. Whoever was contributing by the schedule, in hours
    that are off, goes back to the schedule."""
    until_epoch: int | None = None
    override: Override = "next_edge"
    """Hours of the schedule that are off are overridden until the schedule's next change, until `Resume`, or not."""


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Stop contributing, for `seconds`, until the schedule's next change or until resumed. Reply: null."""

    seconds: float | None = None
    until: Literal["next_edge"] | None = None
    """Refused if the schedule never changes."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """End a pause; where there is none, an override of the schedule. Reply: null."""


IntentCommand = Contribute | Pause | Resume

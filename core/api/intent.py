"""What a volunteer asks for: contribute, pause, resume."""

from typing import Literal

import msgspec

Override = Literal["next_edge", "resumed", "none"]


class Contribute(msgspec.Struct, frozen=True, tag=True):
    """Start or continue contributing. Ends a pause. Reply: the number of what it borrows, else null.

    `project` is an id, URL or manifest file; a project that is not joined yet is joined first. None selects the first
    joined project, in the volunteer's order, that can run, and the practice project if none is joined.
    """

    project: str | None = None
    seconds: float | None = None
    """Seconds to contribute, whatever the schedule says. A volunteer who contributes by the schedule returns to it
    afterwards."""
    until_epoch: int | None = None
    override: Override = "next_edge"
    """Whether hours that are off are overridden: until the schedule's next change, until `Resume`, or not."""
    anyway: tuple[str, ...] = ()
    """Kinds of reasons (`core.api.reasons.OVERRIDABLE`) that do not count: for `seconds`, else as long as `override`
    says. A volunteer who contributes already goes on afterwards, within the limits."""
    borrow: bool = False
    """At its end, by time, epoch or `GiveBack`, what applied before applies again. Several may borrow at once: the last
    one applies. Other commands of the meantime count for all; a `Contribute` that borrows nothing ends what is
    borrowed. Not kept when the engine ends."""


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Stop contributing for `seconds`, until the schedule's next change, or until `Resume`. Reply: null."""

    seconds: float | None = None
    until: Literal["next_edge"] | None = None
    """Refused if the schedule never changes."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """End a pause or, without one, what overrides schedule and limits. Reply: null."""


class GiveBack(msgspec.Struct, frozen=True, tag=True):
    """End what was borrowed under this number; nothing happens if it has ended. Reply: null."""

    number: int


IntentCommand = Contribute | Pause | Resume | GiveBack

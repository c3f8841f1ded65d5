"""The contribution record: its rows, what each session gave hour by hour, and sums, so that years fit into one reply.

A period begins at `since` and ends before `until`, UTC seconds; None is the beginning or the end of the record. An hour
belongs to the local day in which it begins. Days are those of the zone that the computer is in now.
"""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from core.api.message import Message
from core.api.record.events import GetEvents
from core.api.record.totals import Given

Bucket = Literal["hour", "day", "week", "month"]
MilestoneKind = Literal["seconds", "samples", "epochs"]
JOULES_IN_KWH = 3_600_000
MOST_SESSIONS = 200
MOST_HOURS = 4000
"""Entries of one reply to `GetHistory`: about two megabytes."""
COLOURED = 4
"""Projects with their own bars; the others share one."""


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


class Sums(Given, frozen=True):
    """Contributions of a period."""

    @property
    def energy(self) -> float | None:
        """Joules, measured and estimated together; None: nothing is known."""
        known = [joules for joules in (self.joules, self.estimated_joules) if joules is not None]
        return sum(known) if known else None


class ProjectGiven(msgspec.Struct, frozen=True):
    """One project's part."""

    project: str
    name: str
    seconds: float
    samples: int
    """Accepted where that was recorded, else computed."""
    run_id: str = ""
    fingerprint: str = ""
    """SHA-256 of what makes the run: model, data and training; empty if its manifest is not known."""


class Bar(msgspec.Struct, frozen=True, array_like=True):
    """Contributions to one project in one bucket."""

    start: float
    """UTC seconds."""
    project: int
    """Place in `Overview.projects`; -1 for all further ones together."""
    seconds: float
    samples: int


class Milestone(msgspec.Struct, frozen=True):
    """A round number. `at` is the day on which it was reached, or will be at the rate of the last 30 days.

    None: nothing worth saying is known.
    """

    kind: MilestoneKind
    amount: float
    at: float | None
    reached: bool


class Cost(msgspec.Struct, frozen=True):
    """What the energy cost, by the volunteer's figures. None: no figure, or energy not known."""

    money: float | None = None
    currency: str = ""
    co2: float | None = None
    """Grams."""


class GetOverview(msgspec.Struct, frozen=True, tag=True):
    """Reply: Overview. `year` (local) is for the calendar; None: the one of `until`."""

    since: float | None = None
    until: float | None = None
    year: int | None = None


class Overview(msgspec.Struct, frozen=True):
    """Reply to `GetOverview`."""

    since: float
    until: float
    first: float | None
    """When the record begins; None: it is empty."""
    sums: Sums
    sessions: int
    """Sessions that began in the period."""
    cost: Cost
    projects: tuple[ProjectGiven, ...]
    """Most seconds first."""
    bucket: Bucket
    bars: tuple[Bar, ...]
    year: int
    years: tuple[int, ...]
    """Those with a contribution."""
    calendar: tuple[float, ...]
    """Seconds of each day of `year`."""
    milestones: tuple[Milestone, ...]
    """Reached ones by time, then future ones."""


class GetHabits(msgspec.Struct, frozen=True, tag=True):
    """Reply: Habits."""

    since: float | None = None
    until: float | None = None


class Habits(msgspec.Struct, frozen=True):
    """Hours of contributing, and reasons for not contributing."""

    week: tuple[float, ...]
    """Seconds in each of the 168 hours of the local week, from Monday 0:00 on."""
    idle: dict[str, float]
    """Seconds in which contributing was wanted and was not done, by reason (`core.api.reasons.Kind`, or a state)."""
    endings: dict[str, int]
    """Sessions by the kind of their ending, most frequent first."""


class GetSessions(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of SessionGiven that began in the period, newest first, at most `MOST_SESSIONS`.

    `before` continues a list: only sessions that began earlier.
    """

    since: float | None = None
    until: float | None = None
    before: float | None = None
    project: str | None = None
    ending: str | None = None


class SessionGiven(msgspec.Struct, frozen=True):
    id: int
    project: str
    name: str
    run_id: str
    started_at: float
    ended_at: float | None
    ending: Message | None
    """Its kind is that of a reason or of a failure, or `done`; None while it runs."""
    imported: bool
    sums: Sums


class ExportHistory(msgspec.Struct, frozen=True, tag=True):
    """Write the whole record into a file (absolute path); `csv` is a table for spreadsheets. Reply: Written."""

    path: str
    form: Literal["json", "csv"] = "json"


class ImportHistory(msgspec.Struct, frozen=True, tag=True):
    """Import an export of either form; entries already in the record are not counted twice. Reply: Written."""

    path: str


class Written(msgspec.Struct, frozen=True):
    """Contents of an exported or imported file."""

    path: str
    sessions: int
    hours: int
    new_hours: int = 0
    """Of an import: hours that were not in the record before."""


class DeleteHistory(msgspec.Struct, frozen=True, tag=True):
    """Delete the whole record; memberships and preferences stay. Reply: null."""

    everything: Literal[True]
    """Required, so that an empty message deletes nothing."""


def cost_of(sums: Sums, preferences: Mapping[str, Any]) -> Cost:
    """Cost of energy by the volunteer's price and grid factor, by name of the preference; a missing one is not set."""
    if sums.energy is None:
        return Cost()
    kilowatt_hours = sums.energy / JOULES_IN_KWH
    price, factor = (preferences.get(name, 0) for name in ("energy_price", "grid_factor"))
    return Cost(
        money=kilowatt_hours * price / 1000 if price else None,
        currency=preferences.get("currency", ""),
        co2=kilowatt_hours * factor if factor else None,
    )


HistoryCommand = (
    GetHistory | GetOverview | GetHabits | GetSessions | GetEvents | ExportHistory | ImportHistory | DeleteHistory
)

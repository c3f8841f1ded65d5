"""What the volunteer can do next, for the big button and the tray: pure functions of a snapshot and the time."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from msgspec.structs import replace

from app.text.formats import numbers, times
from app.text.i18n import tr
from app.text.reasons import is_paused
from core.api.intent import Contribute, Pause, Resume
from core.api.preferences.schedule import Level
from core.api.protocol import Command
from core.api.reasons import OVERRIDABLE, Kind
from core.api.snapshot import Snapshot

MINUTE = 60.0
HOUR = 3600.0
_MORNING = 8
_SHORTEST_NIGHT = 4 * HOUR
"""Before this hour, "tomorrow morning" means the morning of the same day."""


@dataclass(frozen=True)
class Choice:
    """A menu entry or button, and its command to the engine."""

    text: str
    command: Command


def main_choice(snapshot: Snapshot) -> Choice:
    """What the big button does."""
    if any(reason.kind == Kind.GAVE_UP for reason in snapshot.reasons):
        return Choice(tr("Try again"), Contribute(snapshot.pinned))
    if is_paused(snapshot):
        return Choice(tr("Resume"), Resume()) if snapshot.wanted else _contribute(snapshot)
    if waits_for_schedule(snapshot):
        return Choice(tr("Contribute now"), Contribute(snapshot.pinned))
    if is_under_way(snapshot):
        return Choice(tr("Pause"), Pause())
    return _contribute(snapshot)


def _contribute(snapshot: Snapshot) -> Choice:
    return Choice(tr("Contribute"), Contribute(snapshot.pinned))


def more_choices(snapshot: Snapshot, now: float) -> tuple[Choice, ...]:
    """The durations beside the big button: of a pause while contributing or paused, else of a contribution."""
    if waits_for_schedule(snapshot):
        return (*_contributions(snapshot, now), Choice(tr("Pause until I resume"), Pause()))
    if is_under_way(snapshot) or is_paused(snapshot):
        return _pauses(snapshot, now)
    return _contributions(snapshot, now)


def waits_for_schedule(snapshot: Snapshot) -> bool:
    """Only the schedule prevents contributing; the volunteer may override it."""
    by_schedule = any(reason.kind == Kind.OUTSIDE_SCHEDULE for reason in snapshot.reasons)
    return by_schedule and snapshot.wanted and not is_paused(snapshot)


def anyway_choices(snapshot: Snapshot, now: float) -> tuple[Choice, ...]:
    """How long to contribute in spite of the volunteer's own limits; empty where they are not all that prevents it.

    Hours that are off alone are overridden by the big button.
    """
    kinds = tuple(sorted({reason.kind for reason in snapshot.reasons}))
    if is_paused(snapshot) or set(kinds) <= {Kind.OUTSIDE_SCHEDULE} or not OVERRIDABLE.issuperset(kinds):
        return ()
    known = {*snapshot.anyway, *kinds}
    begun = Contribute(snapshot.pinned, anyway=tuple(sorted(known)))
    choices = [Choice(text, replace(begun, seconds=seconds)) for text, seconds in _lengths(now)]
    if snapshot.schedule.next_at is not None:
        choices.append(Choice(_until_edge(snapshot.schedule.next_at, now), begun))
    return (*choices, Choice(tr("Until I pause"), replace(begun, override="resumed")))


def _lengths(now: float) -> Iterator[tuple[str, float]]:
    """Of a contribution: what they are called, and seconds."""
    for seconds in (HOUR, 2 * HOUR):
        yield tr("For {time}", time=numbers.duration(seconds)), seconds
    yield _until_morning(now), morning(now) - now


def _pauses(snapshot: Snapshot, now: float) -> tuple[Choice, ...]:
    lengths = (
        Choice(tr("For {time}", time=numbers.duration(time)), Pause(time)) for time in (30 * MINUTE, HOUR, 2 * HOUR)
    )
    choices = [*lengths, Choice(_until_morning(now), Pause(morning(now) - now))]
    if snapshot.schedule.next_at is not None:
        choices.append(Choice(_until_edge(snapshot.schedule.next_at, now), Pause(until="next_edge")))
    choices.append(Choice(tr("Until I resume"), Pause()))
    if snapshot.anyway and not is_paused(snapshot):
        choices.append(Choice(tr("Back to my limits"), Resume()))
    elif snapshot.schedule.overridden and not is_paused(snapshot):
        choices.append(Choice(tr("Back to the schedule"), Resume()))
    return tuple(choices)


def _contributions(snapshot: Snapshot, now: float) -> tuple[Choice, ...]:
    """In hours that are off, each of them overrides the schedule."""
    project, schedule = snapshot.pinned, snapshot.schedule
    choices = [Choice(text, Contribute(project, seconds)) for text, seconds in _lengths(now)]
    if schedule.level is not Level.OFF:
        return (*choices, Choice(tr("Until I pause"), Contribute(project)))
    if schedule.next_at is not None:
        choices.append(Choice(_until_edge(schedule.next_at, now), Contribute(project)))
    return (*choices, Choice(tr("Until I pause"), Contribute(project, override="resumed")))


def _until_morning(now: float) -> str:
    return tr("Until tomorrow morning ({time})", time=times.clock(morning(now), morning(now)))


def _until_edge(edge: float, now: float) -> str:
    return tr("Until the schedule changes ({time})", time=times.clock(edge, now))


def is_under_way(snapshot: Snapshot) -> bool:
    """Contributing or starting to: something that can be paused."""
    if snapshot.state == "leaving" and not snapshot.wanted:
        return False
    return not is_paused(snapshot) and (snapshot.wanted or snapshot.session is not None)


def continues_by_itself(snapshot: Snapshot) -> bool:
    """The engine would continue to contribute without the window, now or later, so Quit has to ask."""
    for_good = any(reason.kind == Kind.PAUSED and reason.until is None for reason in snapshot.reasons)
    return snapshot.wanted and not for_good


def morning(now: float) -> float:
    """Eight o'clock of the next morning, UTC seconds; local time, so a change of daylight saving is counted in."""
    midday = datetime.fromtimestamp(now).astimezone().replace(hour=12, tzinfo=None)
    mornings = (
        (midday + timedelta(days=number)).replace(hour=_MORNING, minute=0, second=0, microsecond=0)
        for number in range(3)
    )
    return next(day.timestamp() for day in mornings if day.timestamp() - now >= _SHORTEST_NIGHT)

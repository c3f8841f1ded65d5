"""Hours of contributing and reasons for not contributing, from a view of the record."""

from datetime import tzinfo

from core.api.record.record import GetHabits, Habits
from core.store.journal import HOUR
from core.store.local_days import offsets
from core.store.queries.sessions import endings
from core.store.queries.view import View

_HOURS = 168
_FIRST = 72
"""Hours from Monday 0:00 to the beginning of 1970, which was a Thursday."""


def habits(view: View, wanted: GetHabits, zone: tzinfo) -> Habits:
    since = float("-inf") if wanted.since is None else wanted.since
    until = float("inf") if wanted.until is None else wanted.until
    return Habits(_week(view, since, until, zone), _idle(view, since, until), endings(view, since, until))


def _week(view: View, since: float, until: float, zone: tzinfo) -> tuple[float, ...]:
    week = [0.0] * _HOURS
    first, last = view.extent() or (0.0, 0.0)
    local = offsets(zone, max(first, since), min(last, until))
    place = f"({local.sql()} / {HOUR} + {_FIRST}) % {_HOURS}"
    query = f"SELECT {place}, sum(seconds) FROM contribution WHERE hour >= ? AND hour < ? GROUP BY 1"  # noqa: S608
    for row in view.rows(query, since, until):
        week[row[0] % _HOURS] += row[1]
    for entry in view.pending(since, until):
        week[int((entry.hour + local.at(entry.hour)) // HOUR + _FIRST) % _HOURS] += entry.seconds
    return tuple(week)


def _idle(view: View, since: float, until: float) -> dict[str, float]:
    query = "SELECT reason, sum(seconds) FROM idle WHERE hour >= ? AND hour < ? GROUP BY reason"
    found: dict[str, float] = {row[0]: row[1] for row in view.rows(query, since, until)}
    for (hour, reason), seconds in view.pending_idle.items():
        if since <= hour < until:
            found[reason] = found.get(reason, 0.0) + seconds
    return dict(sorted(found.items(), key=lambda item: -item[1]))

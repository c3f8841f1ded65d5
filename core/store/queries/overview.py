"""The overview of whole local days: totals, bars, calendar and milestones, from a view's sums of days."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import MAXYEAR, date, tzinfo

import msgspec

from core.api.record.record import COLOURED, Bar, Bucket, Cost, GetOverview, Milestone, Overview, ProjectGiven
from core.store.journal import HOUR
from core.store.local_days import Offsets, date_of, midnight, number_of, offsets
from core.store.queries.milestones import milestones
from core.store.queries.sessions import count_sessions
from core.store.queries.view import Day, Part, View

MOST_PROJECTS = 40
_FINE_DAYS, _DAILY_DAYS, _WEEKLY_DAYS = 2, 92, 800


def overview(
    view: View, wanted: GetOverview, zone: tzinfo, now: float, describe: Callable[[str, float, int], ProjectGiven]
) -> Overview:
    """`describe` makes a `ProjectGiven` from a project's id, seconds and samples."""
    extent = view.extent()
    begin, end = extent or (now, now)
    since = begin if wanted.since is None else wanted.since
    until = max(now, end) if wanted.until is None else wanted.until
    local = offsets(zone, min(since, begin), max(until, end, now))
    days = range(local.day(since), local.day(max(since, until - 1)) + 1)
    since, until = (_first_hour(day, local, zone) for day in (days.start, days.stop))
    daily = view.daily(local)
    bucket = bucket_of(len(days))
    parts = list(view.hourly(since, until) if bucket == "hour" else view.parts(days, bucket, local))
    projects = _ranked(parts)
    places = {project: place for place, (project, *_) in enumerate(projects[:COLOURED])}
    year = wanted.year or date_of(days[-1]).year
    return Overview(
        since=since,
        until=until,
        first=float(begin) if extent else None,
        sums=view.sums_of_days(days, local),
        sessions=count_sessions(view, since, until),
        cost=Cost(),
        projects=tuple(describe(*project) for project in projects[:MOST_PROJECTS]),
        bucket=bucket,
        bars=_bars(parts, places, None if bucket == "hour" else zone),
        year=year,
        years=tuple(sorted({date_of(day).year for day, *_ in daily})),
        calendar=_calendar(daily, year),
        milestones=_milestones(daily, local.day(now), zone),
    )


def bucket_of(days: int) -> Bucket:
    """The period of one bar, chosen so that their number is readable."""
    if days <= _FINE_DAYS:
        return "hour"
    return "day" if days <= _DAILY_DAYS else "week" if days <= _WEEKLY_DAYS else "month"


def _ranked(parts: Iterable[Part]) -> list[tuple[str, float, int]]:
    """Projects with seconds and samples, most seconds first."""
    seconds: dict[str, float] = defaultdict(float)
    samples: dict[str, int] = defaultdict(int)
    for _, project, gave, count in parts:
        seconds[project] += gave
        samples[project] += count
    return [(project, seconds[project], samples[project]) for project in sorted(seconds, key=lambda p: -seconds[p])]


def _bars(parts: Iterable[Part], places: Mapping[str, int], zone: tzinfo | None) -> tuple[Bar, ...]:
    """`parts` begin with days of the zone or, without one, with hours."""
    seconds: dict[tuple[int, int], float] = defaultdict(float)
    samples: dict[tuple[int, int], int] = defaultdict(int)
    for begin, project, gave, count in parts:
        key = begin, places.get(project, -1)
        seconds[key] += gave
        samples[key] += count
    starts = {begin: float(begin) if zone is None else midnight(begin, zone) for begin, _ in seconds}
    # The other projects last, at the top of the bar.
    ordered = sorted(seconds, key=lambda key: (key[0], key[1] < 0, key[1]))
    return tuple(Bar(starts[key[0]], key[1], seconds[key], samples[key]) for key in ordered)


def _calendar(daily: Iterable[Day], year: int) -> tuple[float, ...]:
    begin, end = number_of(date(year, 1, 1)), number_of(date(year + 1, 1, 1)) if year < MAXYEAR else 1 << 30
    days = [0.0] * min(366, end - begin)
    for day, seconds, *_ in daily:
        if begin <= day < end:
            days[day - begin] = seconds
    return tuple(days)


def _milestones(daily: Sequence[Day], today: int, zone: tzinfo) -> tuple[Milestone, ...]:
    return tuple(
        msgspec.structs.replace(milestone, at=None if day is None else midnight(day, zone))
        for milestone, day in milestones(daily, today)
    )


def _first_hour(day: int, local: Offsets, zone: tzinfo) -> float:
    """The first hour that belongs to a day."""
    hour = int(midnight(day, zone) // HOUR * HOUR)
    return float(hour if local.day(hour) >= day else hour + HOUR)

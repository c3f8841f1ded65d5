"""What was given in whole local days: totals, bars, the calendar and milestones, made of a view's sums of days."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import MAXYEAR, date, tzinfo

import msgspec

from core.api.record import COLOURED, Bar, Bucket, Cost, GetOverview, Milestone, Overview, ProjectGiven
from core.store.journal import HOUR
from core.store.local_days import Offsets, date_of, midnight, month_begin, number_of, offsets, week_begin
from core.store.milestones import milestones
from core.store.sessions import count_sessions
from core.store.view import Daily, View

MOST_PROJECTS = 40
_FINE_DAYS, _DAILY_DAYS, _WEEKLY_DAYS = 2, 92, 800


def overview(
    view: View, ask: GetOverview, zone: tzinfo, now: float, describe: Callable[[str, float, int], ProjectGiven]
) -> Overview:
    """What was given in whole local days. `describe` makes a project's part of its id, seconds and samples."""
    extent = view.extent()
    begin, end = extent or (now, now)
    since, until = ask.since if ask.since is not None else begin, ask.until if ask.until is not None else max(now, end)
    local = offsets(zone, min(since, begin), max(until, end, now))
    days = range(local.day(since), local.day(max(since, until - 1)) + 1)
    since, until = (_first_hour(day, local, zone) for day in (days.start, days.stop))
    daily = view.daily(local)
    shown = [one for one in daily if one.day in days]
    projects = _ranked(shown)
    bucket = bucket_of(len(days))
    places = {project: place for place, (project, *_) in enumerate(projects[:COLOURED])}
    given = view.hourly(since, until) if bucket == "hour" else _by_bucket(shown, bucket, zone)
    year = ask.year or date_of(days[-1]).year
    return Overview(
        since=since,
        until=until,
        first=float(begin) if extent else None,
        sums=view.sums_of_days(days, local),
        sessions=count_sessions(view, since, until),
        cost=Cost(),
        projects=tuple(describe(*project) for project in projects[:MOST_PROJECTS]),
        bucket=bucket,
        bars=_bars(given, places),
        year=year,
        years=tuple(sorted({date_of(day).year for day in {one.day for one in daily}})),
        calendar=_calendar(daily, year),
        milestones=_milestones(daily, local.day(now), zone),
    )


def bucket_of(days: int) -> Bucket:
    """The size of a bar, so that there are neither two nor hundreds of them."""
    if days <= _FINE_DAYS:
        return "hour"
    return "day" if days <= _DAILY_DAYS else "week" if days <= _WEEKLY_DAYS else "month"


def _ranked(shown: Iterable[Daily]) -> list[tuple[str, float, int]]:
    """Projects with seconds and samples, most given to first."""
    seconds: dict[str, float] = defaultdict(float)
    samples: dict[str, int] = defaultdict(int)
    for one in shown:
        seconds[one.project] += one.seconds
        samples[one.project] += one.samples
    return [(project, seconds[project], samples[project]) for project in sorted(seconds, key=lambda p: -seconds[p])]


def _by_bucket(shown: Iterable[Daily], bucket: Bucket, zone: tzinfo) -> Iterator[tuple[float, str, float, int]]:
    begin_of = {"day": lambda day: day, "week": week_begin, "month": month_begin}[bucket]
    starts: dict[int, float] = {}
    for one in shown:
        begin = begin_of(one.day)
        if begin not in starts:
            starts[begin] = midnight(begin, zone)
        yield starts[begin], one.project, one.seconds, one.samples


def _bars(given: Iterable[tuple[float, str, float, int]], places: Mapping[str, int]) -> tuple[Bar, ...]:
    seconds: dict[tuple[float, int], float] = defaultdict(float)
    samples: dict[tuple[float, int], int] = defaultdict(int)
    for start, project, gave, count in given:
        key = start, places.get(project, -1)
        seconds[key] += gave
        samples[key] += count
    # The others last, on top of the bar.
    ordered = sorted(seconds, key=lambda key: (key[0], key[1] < 0, key[1]))
    return tuple(Bar(*key, seconds[key], samples[key]) for key in ordered)


def _calendar(daily: Iterable[Daily], year: int) -> tuple[float, ...]:
    begin, end = number_of(date(year, 1, 1)), number_of(date(year + 1, 1, 1)) if year < MAXYEAR else 1 << 30
    days = [0.0] * min(366, end - begin)
    for one in daily:
        if begin <= one.day < end:
            days[one.day - begin] += one.seconds
    return tuple(days)


def _milestones(daily: Iterable[Daily], today: int, zone: tzinfo) -> tuple[Milestone, ...]:
    days: dict[int, tuple[float, int, int]] = defaultdict(lambda: (0.0, 0, 0))
    for one in daily:
        seconds, samples, epochs = days[one.day]
        days[one.day] = seconds + one.seconds, samples + one.samples, epochs + one.epochs
    found = milestones([(day, *sums) for day, sums in sorted(days.items())], today)
    return tuple(
        msgspec.structs.replace(milestone, at=None if day is None else midnight(day, zone)) for milestone, day in found
    )


def _first_hour(day: int, local: Offsets, zone: tzinfo) -> float:
    """The first hour that belongs to a day."""
    hour = int(midnight(day, zone) // HOUR * HOUR)
    return float(hour if local.day(hour) >= day else hour + HOUR)

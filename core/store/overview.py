"""The record summed up in SQL, from one moment's view of the file and of what waits in the journal.

A view is opened where the journal lives and may be read in another thread: SQLite shows it the file as it was then.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import MAXYEAR, date, tzinfo
from pathlib import Path
from typing import Any

import msgspec

from core.api.history import Contribution
from core.api.record import (
    COLOURED,
    MOST_SESSIONS,
    Bar,
    Bucket,
    Cost,
    GetHabits,
    GetOverview,
    GetSessions,
    Habits,
    Milestone,
    Overview,
    ProjectGiven,
    SessionGiven,
    Sums,
)
from core.store.journal import GIVEN, HOUR, Journal, SessionRecord
from core.store.local_days import Offsets, date_of, midnight, month_begin, number_of, offsets, week_begin
from core.store.milestones import milestones

MOST_PROJECTS = 40
MOST_ENDINGS = 12
_FINE_DAYS, _DAILY_DAYS, _WEEKLY_DAYS = 2, 92, 800
_SUMS = ", ".join(f"sum({name}) AS {name}" for name in GIVEN)
_END = float(1 << 42)


@dataclass(frozen=True)
class Daily:
    """What one project was given on one local day."""

    day: int
    project: str
    seconds: float
    samples: int
    epochs: int


class View:
    """Close it. Used from one thread at a time."""

    def __init__(self, path: Path, journal: Journal) -> None:
        self._waiting = list(journal.contributions_waiting().values())
        self._idle_waiting = journal.idle_waiting()
        self._sessions_waiting = {session.id: session for session in journal.sessions_waiting()}
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        # From here on the file stays as it is, for this connection.
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM session WHERE id < 0")

    def close(self) -> None:
        self._connection.close()

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._connection.execute(query, values).fetchall()

    def waiting(self, since: float, until: float) -> Iterator[Contribution]:
        return (entry for entry in self._waiting if since <= entry.hour < until)

    def extent(self) -> tuple[float, float] | None:
        """The first and the last hour of the record."""
        # Each on its own is one look into the tree; together they would be a scan.
        [row] = self.rows("SELECT (SELECT min(hour) FROM contribution), (SELECT max(hour) FROM contribution)")
        hours = [hour for hour in (row[0], row[1], *(entry.hour for entry in self._waiting)) if hour is not None]
        return (min(hours), max(hours)) if hours else None

    def sums(self, since: float, until: float) -> Sums:
        [row] = self.rows(
            f"SELECT {_SUMS} FROM contribution WHERE hour >= ? AND hour < ?",  # noqa: S608 - names from the code
            since,
            until,
        )
        return added(dict(row), self.waiting(since, until))

    def daily(self, local: Offsets) -> list[Daily]:
        """All of the record, by local day and project, in the order of days."""
        query = (
            f"SELECT {local.sql()} / 86400 AS day, session, sum(seconds),"  # noqa: S608 - numbers alone
            " sum(coalesce(accepted, samples)), sum(epochs) FROM contribution GROUP BY day, session"
        )
        # Not joined in SQL, which would look each hour's session up.
        project_of = {row[0]: row[1] for row in self.rows("SELECT id, project FROM session")}
        found: dict[tuple[int, str], Daily] = {}
        for day, session, *given in self.rows(query):
            _add(found, day, project_of[session], *given)
        for entry in self._waiting:
            samples = entry.samples if entry.accepted is None else entry.accepted
            _add(found, local.day(entry.hour), entry.project, entry.seconds, samples, entry.epochs)
        return sorted(found.values(), key=lambda daily: daily.day)

    def hourly(self, since: float, until: float) -> Iterator[tuple[float, str, float, int]]:
        """Hour, project, seconds, samples; for short times."""
        query = (
            "SELECT hour, project, seconds, coalesce(accepted, samples) FROM contribution"
            " JOIN session ON session.id = contribution.session WHERE hour >= ? AND hour < ?"
        )
        for row in self.rows(query, since, until):
            yield row[0], row[1], row[2], row[3]
        for entry in self.waiting(since, until):
            yield (
                entry.hour,
                entry.project,
                entry.seconds,
                entry.samples if entry.accepted is None else entry.accepted,
            )

    def count_sessions(self, since: float, until: float) -> int:
        [row] = self.rows("SELECT count(*) FROM session WHERE started_at >= ? AND started_at < ?", since, until)
        new = [s for s in self._sessions_waiting.values() if since <= s.started_at < until and not self._knows(s)]
        return int(row[0]) + len(new)

    def habits(self, ask: GetHabits, zone: tzinfo) -> Habits:
        since, until, local = self._time(ask.since, ask.until, zone)
        week = [0.0] * 168
        # The first day of 1970 was a Thursday.
        place = f"({local.sql()} / 3600 + 72) % 168"
        query = f"SELECT {place}, sum(seconds) FROM contribution WHERE hour >= ? AND hour < ? GROUP BY 1"  # noqa: S608
        for row in self.rows(query, since, until):
            week[row[0] % 168] += row[1]
        for entry in self.waiting(since, until):
            week[int((entry.hour + local.at(entry.hour)) // HOUR + 72) % 168] += entry.seconds
        return Habits(tuple(week), self._idle(since, until), self._endings(since, until))

    def sessions(self, ask: GetSessions, name_of: Callable[[str], str]) -> list[SessionGiven]:
        since, until, _ = self._bounds(ask.since, ask.until)
        until = until if ask.before is None else min(until, ask.before)
        query = (
            "SELECT id, project, run_id, started_at, ended_at, end_reason, origin FROM session"
            " WHERE started_at >= ? AND started_at < ? AND (?3 IS NULL OR project = ?3)"
            " AND (?4 IS NULL OR end_reason = ?4) ORDER BY started_at DESC LIMIT ?5"
        )
        found = {row["id"]: dict(row) for row in self.rows(query, since, until, ask.project, ask.ending, MOST_SESSIONS)}
        for session in self._sessions_waiting.values():
            asked = ask.project in {None, session.project} and ask.ending in {None, session.end_reason}
            if asked and since <= session.started_at < until:
                found[session.id] = {**_fields(session), "origin": ""}
        newest = sorted(found.values(), key=lambda row: -row["started_at"])[:MOST_SESSIONS]
        sums = self._sums_of([row["id"] for row in newest])
        return [_session(row, name_of(row["project"]), sums.get(row["id"], Sums())) for row in newest]

    def _sums_of(self, ids: list[int]) -> dict[int, Sums]:
        query = (
            f"SELECT session, {_SUMS} FROM contribution WHERE session IN ({', '.join('?' * len(ids))})"  # noqa: S608
            " GROUP BY session"
        )
        rows = {row["session"]: dict(row) for row in self.rows(query, *ids)}
        waiting: dict[int, list[Contribution]] = defaultdict(list)
        for entry in self._waiting:
            waiting[entry.session].append(entry)
        return {id: added(rows.get(id, {}), waiting[id]) for id in ids}  # noqa: A001

    def _idle(self, since: float, until: float) -> dict[str, float]:
        query = "SELECT reason, sum(seconds) FROM idle WHERE hour >= ? AND hour < ? GROUP BY reason"
        found: dict[str, float] = {row[0]: row[1] for row in self.rows(query, since, until)}
        for (hour, reason), seconds in self._idle_waiting.items():
            if since <= hour < until:
                found[reason] = found.get(reason, 0.0) + seconds
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def _endings(self, since: float, until: float) -> dict[str, int]:
        query = (
            "SELECT end_reason, count(*) FROM session WHERE started_at >= ? AND started_at < ?"
            " AND end_reason IS NOT NULL GROUP BY end_reason ORDER BY 2 DESC LIMIT ?"
        )
        return {row[0]: row[1] for row in self.rows(query, since, until, MOST_ENDINGS)}

    def _knows(self, session: SessionRecord) -> bool:
        return bool(self.rows("SELECT 1 FROM session WHERE id = ?", session.id))

    def _bounds(self, since: float | None, until: float | None) -> tuple[float, float, tuple[float, float]]:
        first, last = self.extent() or (0.0, 0.0)
        return first - 366 * 86_400 if since is None else since, _END if until is None else until, (first, last)

    def _time(self, since: float | None, until: float | None, zone: tzinfo) -> tuple[float, float, Offsets]:
        begin, end, extent = self._bounds(since, until)
        return begin, end, offsets(zone, *extent)


def _add(found: dict[tuple[int, str], Daily], day: int, project: str, *given: Any) -> None:
    seconds, samples, epochs = given
    before = found.get((day, project))
    if before is not None:
        seconds, samples, epochs = before.seconds + seconds, before.samples + samples, before.epochs + epochs
    found[day, project] = Daily(day, project, seconds, samples, epochs)


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
        sums=view.sums(since, until),
        sessions=view.count_sessions(since, until),
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


def added(row: Mapping[str, Any], entries: Iterable[Contribution]) -> Sums:
    """Sums of a query's row, which has NULL for no rows at all, and of entries that it does not know."""
    values = {name: row.get(name) for name in GIVEN}
    for entry in entries:
        for name in GIVEN:
            more = getattr(entry, name)
            if more is not None:
                values[name] = (values[name] or 0) + more
    return Sums(**{name: value for name, value in values.items() if value is not None})


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


def _fields(session: SessionRecord) -> dict[str, Any]:
    return {
        name: getattr(session, name) for name in ("id", "project", "run_id", "started_at", "ended_at", "end_reason")
    }


def _session(row: Mapping[str, Any], name: str, sums: Sums) -> SessionGiven:
    return SessionGiven(
        id=row["id"],
        project=row["project"],
        name=name,
        run_id=row["run_id"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        ending=row["end_reason"],
        imported=bool(row["origin"]),
        sums=sums,
    )

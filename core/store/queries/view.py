"""The record at one moment: the file, and the journal's pending entries.

A view is opened on the journal's thread and may be read on another: SQLite shows it the file as it was then.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from core.api.record.record import Contribution, Sums
from core.api.record.totals import GIVEN, together
from core.store.days import OFFSETS, SUMS, stored_offsets, sums_by_day
from core.store.journal import Journal
from core.store.local_days import Offsets, Size, begin_of

_BEGINS: dict[Size, str] = {
    "day": "day",
    "week": "day - (day + 3) % 7",
    "month": "CAST(strftime('%s', day * 86400, 'unixepoch', 'start of month') AS INTEGER) / 86400",
}
"""As `begin_of`, in SQL."""

Part = tuple[int, str, float, int]
"""First day or hour of a bar, project, seconds, samples."""
Day = tuple[int, float, int, int]
"""Number of the day, seconds, samples, epochs, of all projects together."""


class View:
    """For one thread at a time. Call `close` at the end."""

    def __init__(self, path: Path, journal: Journal) -> None:
        self._pending = list(journal.pending.given.values())
        self.pending_idle = dict(journal.pending.idle)
        self.pending_sessions = dict(journal.pending.sessions)
        self.pending_notices = list(journal.pending.notices)
        self._connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=2.0, isolation_level=None, check_same_thread=False
        )
        self._connection.row_factory = sqlite3.Row
        # This connection sees no later changes of the file.
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM session WHERE id < 0")

    def close(self) -> None:
        self._connection.close()

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        return self._connection.execute(query, values).fetchall()

    def pending(self, since: float = float("-inf"), until: float = float("inf")) -> Iterator[Contribution]:
        return (entry for entry in self._pending if since <= entry.hour < until)

    def extent(self) -> tuple[float, float] | None:
        """The first and the last hour of the record; None if it is empty."""
        hours = [*(self._stored_extent or ()), *(entry.hour for entry in self._pending)]
        return (min(hours), max(hours)) if hours else None

    def sums_of_days(self, days: range, local: Offsets) -> Sums:
        query = f"SELECT {SUMS} FROM {self._days(local)} WHERE day >= ? AND day < ?"  # noqa: S608 - see _days
        pending = (entry for entry in self._pending if local.day(entry.hour) in days)
        return added(self.rows(query, days.start, days.stop)[0], pending)

    def daily(self, local: Offsets) -> list[Day]:
        """Every local day of the record, in order."""
        query = f"SELECT day, sum(seconds), sum(counted), sum(epochs) FROM {self._days(local)} GROUP BY day"  # noqa: S608
        found: dict[int, Day] = {row[0]: tuple(row) for row in self.rows(query)}
        for entry in self._pending:
            day = local.day(entry.hour)
            _, seconds, samples, epochs = found.get(day, (day, 0.0, 0, 0))
            found[day] = day, seconds + entry.seconds, samples + counted(entry), epochs + entry.epochs
        return sorted(found.values())

    def parts(self, days: range, size: Size, local: Offsets) -> Iterator[Part]:
        """Contributions by day, week or month, and project; a project can appear twice in one bucket."""
        query = (
            f"SELECT {_BEGINS[size]}, project, sum(seconds), sum(counted) FROM {self._days(local)}"  # noqa: S608
            " WHERE day >= ? AND day < ? GROUP BY 1, 2"
        )
        for row in self.rows(query, days.start, days.stop):
            yield row[0], row[1], row[2], row[3]
        for entry in self._pending:
            if (day := local.day(entry.hour)) in days:
                yield begin_of(day, size), entry.project, entry.seconds, counted(entry)

    def hourly(self, since: float, until: float) -> Iterator[Part]:
        """Hour, project, seconds, samples; for short periods."""
        query = (
            "SELECT hour, project, seconds, coalesce(accepted, samples) FROM contribution"
            " JOIN session ON session.id = contribution.session WHERE hour >= ? AND hour < ?"
        )
        for row in self.rows(query, since, until):
            yield row[0], row[1], row[2], row[3]
        for entry in self.pending(since, until):
            yield int(entry.hour), entry.project, entry.seconds, counted(entry)

    @cached_property
    def _stored_extent(self) -> tuple[float, float] | None:
        # Two queries, each of which uses the index; one query would scan the table.
        [row] = self.rows("SELECT (SELECT min(hour) FROM contribution), (SELECT max(hour) FROM contribution)")
        return None if row[0] is None else (row[0], row[1])

    def _days(self, local: Offsets) -> str:
        """The table with sums of days or, if that is of another zone, a subquery on the hours."""
        kept, extent = stored_offsets(self.rows(OFFSETS)), self._stored_extent
        is_kept = extent is None or kept.within(*extent) == local.within(*extent)
        return "day" if is_kept else f"({sums_by_day(local)} GROUP BY 1, 2)"


def added(row: sqlite3.Row, entries: Iterable[Contribution]) -> Sums:
    """Sums of a query's row (NULL: no rows) and of pending entries."""
    known = {name: row[name] for name in GIVEN if row[name] is not None}
    return together(Sums(**known), entries)


def counted(entry: Contribution) -> int:
    """Accepted samples or, if not known, computed ones."""
    return entry.samples if entry.accepted is None else entry.accepted

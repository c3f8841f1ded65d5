"""Sums of local days, stored so that years are summed up fast.

Table `day` always equals the sums of the hours, for days of the zone in table `day_offset`: code that writes hours
calls `refresh` in the same transaction, and `set_zone` sums up all days again.
"""

import sqlite3
from collections.abc import Iterable
from datetime import tzinfo

from core.api.record.totals import GIVEN
from core.store.database import Database
from core.store.local_days import Offsets, offsets

_YEAR = 366 * 86_400
OFFSETS = "SELECT since, seconds FROM day_offset ORDER BY since"
SUMS = ", ".join(f"sum({name}) AS {name}" for name in GIVEN)
_INSERT = f"INSERT INTO day (day, project, {', '.join(GIVEN)}, counted)"


class Days:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._local = stored_offsets(database.rows(OFFSETS))
        self._zone: tzinfo | None = None
        self._until = float("-inf")

    def set_zone(self, zone: tzinfo, now: float) -> None:
        """Store sums for days of `zone`.

        Raises:
            StoreError: nothing has changed; the next try is for another zone.
        """
        if zone is self._zone and now < self._until:
            return
        self._zone, self._until = zone, now + _YEAR
        wanted = offsets(zone, 0, now + 2 * _YEAR)
        if wanted != self._local:
            with self._database.transaction() as connection:
                self._move(connection, wanted)
            self._local = wanted

    def refresh(self, connection: sqlite3.Connection, hours: Iterable[float]) -> None:
        """Sum up the days of these hours, which were written in the same transaction."""
        for day in {self._local.day(hour) for hour in hours}:
            its_hours = self._local.hours(day)
            places = ", ".join("?" * len(its_hours))
            connection.execute("DELETE FROM day WHERE day = ?", (day,))
            connection.execute(f"{_INSERT} {_sums('?')} WHERE hour IN ({places}) GROUP BY project", (day, *its_hours))

    def _move(self, connection: sqlite3.Connection, wanted: Offsets) -> None:
        connection.execute("DELETE FROM day_offset")
        connection.executemany("INSERT INTO day_offset VALUES (?, ?)", zip(wanted.since, wanted.seconds, strict=True))
        first, last = connection.execute("SELECT min(hour), max(hour) FROM contribution").fetchone()
        if first is None or wanted.within(first, last) == self._local.within(first, last):
            return
        connection.execute("DELETE FROM day")
        connection.execute(f"{_INSERT} {sums_by_day(wanted.within(first, last))} GROUP BY 1, 2")


def sums_by_day(local: Offsets) -> str:
    """The SQL that sums up the hours of a project in a local day, if grouped by its first two columns."""
    return _sums(f"{local.sql()} / 86400")


def _sums(day: str) -> str:
    return (
        f"SELECT {day} AS day, project, {SUMS}, sum(coalesce(accepted, samples)) AS counted"  # noqa: S608 - from the code
        " FROM contribution JOIN session ON session.id = contribution.session"
    )


def stored_offsets(rows: Iterable[sqlite3.Row]) -> Offsets:
    """The zone of the stored days, of rows `since`, `seconds`."""
    since, seconds = zip(*rows, strict=True)
    return Offsets(since, seconds)

"""Records sessions, contributions, epochs, notices and settings.

Entries are pending in memory until `flush` writes them all in one transaction. After a failed flush they stay pending,
so that a full disk loses nothing; readers see pending entries as if they were written.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from core.api.message import Message
from core.api.record.record import Contribution
from core.api.record.totals import GIVEN, UNCERTAIN, Given, together
from core.api.session import Counters, EpochDone
from core.api.snapshot import Traffic
from core.store.database import Database
from core.store.days import Days

HOUR = 3600
ENGINE_KILLED = "engine_killed"
"""Ending of a session whose engine was killed."""


_MOST_NOTICES = 10_000
"""A reason that comes and goes makes hundreds a day."""


@dataclass(frozen=True)
class SessionRecord:
    id: int
    project: str
    run_id: str
    started_at: float
    ended_at: float | None = None
    ending: Message | None = None
    seen_at: float | None = None
    """The last time at which it was known to run."""


@dataclass
class Pending:
    """Entries that are not written yet."""

    sessions: dict[int, SessionRecord] = field(default_factory=dict)
    given: dict[tuple[int, int], Contribution] = field(default_factory=dict)
    epochs: dict[tuple[str, str, int], EpochDone] = field(default_factory=dict)
    idle: dict[tuple[int, str], float] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    notices: list[tuple[str, Message, str | None, float]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.given or self.epochs or self.idle or self.settings or self.notices)


class Journal:
    def __init__(self, database: Database, days: Days) -> None:
        self.database, self.days = database, days
        self.pending = Pending()
        self._last_id: int = database.rows("SELECT coalesce(max(id), 0) FROM session")[0][0]
        self._open: SessionRecord | None = None
        self._totals: dict[str, Any] = {}
        """The session's totals when they were last recorded."""
        self.is_urgent = False
        """There is an entry that must be written at once: a setting, or the end of a session."""

    def begin(self, project: str, run_id: str, now: float) -> None:
        """Start a session, to which `add`, `epoch` and `end` then apply."""
        self._last_id += 1
        self._open = SessionRecord(self._last_id, project, run_id, now)
        self._totals = {}
        self.pending.sessions[self._last_id] = self._open

    def name_run(self, run_id: str) -> None:
        """Set the session's run, which is known only once the manifest has been fetched."""
        if self._open is not None:
            self._open = replace(self._open, run_id=run_id)
            self.pending.sessions[self._open.id] = self._open

    def add(self, counters: Counters, traffic: Traffic, now: float, watts: float = 0.0) -> None:
        """Record the session's totals; their increase is added to the hour of `now`.

        `watts` is the power of one busy core, used if no counter measures it; 0: unknown.
        """
        if self._open is None:
            return
        totals = msgspec.structs.asdict(counters) | {"uploaded": traffic.uploaded, "downloaded": traffic.downloaded}
        before, self._totals = self._totals, totals
        increment = _increment(before, totals, watts)
        if not any(increment.values()):
            return
        self._open = self.pending.sessions[self._open.id] = replace(self._open, seen_at=now)
        hour = int(now // HOUR * HOUR)
        key = self._open.id, hour
        entry = Contribution(session=self._open.id, project=self._open.project, hour=hour, **increment)
        self.pending.given[key] = together(entry, [self.pending.given[key]]) if key in self.pending.given else entry

    def epoch(self, done: EpochDone) -> None:
        if self._open is not None:
            self.pending.epochs[self._open.project, self._open.run_id, done.epoch] = done

    def end(self, ending: Message, now: float) -> None:
        if self._open is not None:
            ended = replace(self._open, ended_at=now, ending=ending, seen_at=now)
            self.pending.sessions[self._open.id] = ended
            self._open = None
            self.is_urgent = True

    def idle(self, reason: str, seconds: float, now: float) -> None:
        """Record `seconds` until `now` in which contributing was wanted but prevented by `reason`."""
        for hour, part in by_hour(now - seconds, now):
            key = hour, reason
            self.pending.idle[key] = self.pending.idle.get(key, 0.0) + part

    def setting(self, name: str, value: str) -> None:
        self.pending.settings[name] = value
        self.is_urgent = True

    def notice(self, kind: str, message: Message, project: str | None, now: float) -> None:
        self.pending.notices.append((kind, message, project, now))

    def flush(self) -> None:
        """Write all pending entries.

        Raises:
            StoreError: nothing was written; all entries stay pending.
        """
        self.is_urgent = False
        if not self.pending:
            return
        with self.database.transaction() as connection:
            _write(connection, self.pending)
            self.days.refresh(connection, (hour for _, hour in self.pending.given))
        self.pending = Pending()

    def reserve_sessions(self, count: int) -> int:
        """Reserve `count` session ids; returns the first."""
        first = self._last_id + 1
        self._last_id += count
        return first

    def forget(self) -> None:
        """Delete the whole record, on disk and pending. A running session continues and counts from zero."""
        with self.database.transaction() as connection:
            for table in ("contribution", "day", "idle", "epoch", "session", "notice"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from this line
        self.pending = Pending(settings=self.pending.settings)
        if self._open is not None:
            self.pending.sessions[self._open.id] = self._open

    def close_unfinished(self) -> None:
        """Mark the sessions of a killed engine as ended when they were last seen."""
        with self.database.transaction() as connection:
            connection.execute(
                f"UPDATE session SET ended_at = seen_at, ending = '{ENGINE_KILLED}' WHERE ending IS NULL"  # noqa: S608
            )

    def read_setting(self, name: str) -> str | None:
        if name in self.pending.settings:
            return self.pending.settings[name]
        rows = self.database.rows("SELECT value FROM setting WHERE name = ?", (name,))
        return rows[0]["value"] if rows else None


def _increment(before: Mapping[str, Any], after: Mapping[str, Any], watts: float) -> dict[str, Any]:
    """The increase of the totals, by name; a decrease counts as none, and what is unknown stays unknown."""
    grown = {name: max(0, (after[name] or 0) - (before.get(name) or 0)) for name in GIVEN}
    unknown = dict.fromkeys(name for name in UNCERTAIN if after[name] is None)
    increment: dict[str, Any] = grown | unknown
    if watts and after["processor_joules"] is None:
        increment["estimated_joules"] = grown["estimated_joules"] + grown["cpu_seconds"] * watts
    return increment


def by_hour(begin: float, end: float) -> Iterator[tuple[int, float]]:
    """The UTC hours of a period, each with its seconds."""
    while begin < end:
        hour = int(begin // HOUR * HOUR)
        until = min(end, float(hour + HOUR))
        yield hour, until - begin
        begin = until


def _write(connection: sqlite3.Connection, pending: Pending) -> None:
    connection.executemany(
        "INSERT INTO session (id, project, run_id, started_at, ended_at, seen_at, ending, ending_params)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id,"
        " ended_at = excluded.ended_at, ending = excluded.ending, ending_params = excluded.ending_params,"
        " seen_at = excluded.seen_at",
        [
            (s.id, s.project, s.run_id, s.started_at, s.ended_at, s.seen_at, *stored_ending(s.ending))
            for s in pending.sessions.values()
        ],
    )
    connection.executemany(_ADD_CONTRIBUTION, [(*key, *values_given(entry)) for key, entry in pending.given.items()])
    connection.executemany(
        "INSERT INTO epoch VALUES (?, ?, ?, '', ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " loss = coalesce(excluded.loss, loss), own_samples = max(own_samples, excluded.own_samples),"
        " peers = excluded.peers, at = excluded.at",
        [(*key, done.loss, done.samples, done.peers, done.at) for key, done in pending.epochs.items()],
    )
    connection.executemany(
        "INSERT INTO idle VALUES ('', ?, ?, ?) ON CONFLICT DO UPDATE SET seconds = seconds + excluded.seconds",
        [(*key, seconds) for key, seconds in pending.idle.items()],
    )
    connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", pending.settings.items())
    connection.executemany(
        "INSERT INTO notice (kind, message, project, at) VALUES (?, ?, ?, ?)",
        [(kind, msgspec.json.encode(message).decode(), *rest) for kind, message, *rest in pending.notices],
    )
    connection.execute("DELETE FROM notice WHERE id <= (SELECT max(id) FROM notice) - ?", (_MOST_NOTICES,))


def stored_ending(ending: Message | None) -> tuple[str | None, str | None]:
    """Kind, and parameters as JSON; None without any."""
    if ending is None:
        return None, None
    return ending.kind, msgspec.json.encode(ending.params).decode() if ending.params else None


def _sum(name: str) -> str:
    if name not in UNCERTAIN:
        return f"{name} = {name} + excluded.{name}"
    return f"{name} = CASE WHEN {name} IS NULL THEN excluded.{name} ELSE {name} + coalesce(excluded.{name}, 0) END"


def put_contribution(on_conflict: Callable[[str], str]) -> str:
    """The SQL that writes a contribution: session, hour, and `values_given`. `on_conflict` assigns a column by name."""
    return (
        f"INSERT INTO contribution (session, hour, {', '.join(GIVEN)})"  # noqa: S608 - names from the code
        f" VALUES (?, ?, {', '.join('?' for _ in GIVEN)})"
        f" ON CONFLICT DO UPDATE SET {', '.join(map(on_conflict, GIVEN))}"
    )


def values_given(entry: Given) -> tuple[object, ...]:
    return tuple(getattr(entry, name) for name in GIVEN)


_ADD_CONTRIBUTION = put_contribution(_sum)

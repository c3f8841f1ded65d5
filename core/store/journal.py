"""Records sessions, contributions, epochs, notices and settings.

Entries are pending in memory until `flush` writes them all in one transaction. After a failed flush they stay pending,
so that a full disk loses nothing; readers see pending entries as if they were written.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from core.api.message import Message
from core.api.record.history import Contribution
from core.api.record.totals import GIVEN, UNCERTAIN, together
from core.api.session import Counters, EpochDone
from core.api.snapshot import Traffic
from core.store.database import Database
from core.store.days import Days

HOUR = 3600
ENGINE_KILLED = "engine_killed"
"""Ending of a session whose engine was killed."""


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
class _Waiting:
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
        self._waiting = _Waiting()
        self._last_id: int = database.rows("SELECT coalesce(max(id), 0) FROM session")[0][0]
        self._open: SessionRecord | None = None
        self._seen = Counters(), Traffic()
        self.is_urgent = False
        """There is an entry that must be written at once: a setting, or the end of a session."""

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def begin(self, project: str, run_id: str, now: float) -> None:
        """Start a session, to which `add`, `epoch` and `end` then apply."""
        self._last_id += 1
        self._open = SessionRecord(self._last_id, project, run_id, now)
        self._seen = Counters(), Traffic()
        self._waiting.sessions[self._last_id] = self._open

    def name_run(self, run_id: str) -> None:
        """Set the session's run, which is known only once the manifest has been fetched."""
        if self._open is not None:
            self._open = replace(self._open, run_id=run_id)
            self._waiting.sessions[self._open.id] = self._open

    def add(self, counters: Counters, traffic: Traffic, now: float, watts: float = 0.0) -> None:
        """Record the session's totals; their increase is added to the hour of `now`.

        `watts` is the power of one busy core, used if no counter measures it; 0: unknown.
        """
        if self._open is None:
            return
        seen_counters, seen_traffic = self._seen
        self._seen = counters, traffic
        increment = _Increment(seen_counters, counters, seen_traffic, traffic, watts).values()
        if not any(increment.values()):
            return
        self._open = self._waiting.sessions[self._open.id] = replace(self._open, seen_at=now)
        hour = int(now // HOUR * HOUR)
        before = self._waiting.given.get((self._open.id, hour))
        entry = Contribution(session=self._open.id, project=self._open.project, hour=hour, **increment)
        self._waiting.given[self._open.id, hour] = entry if before is None else together(before, [entry])

    def epoch(self, done: EpochDone) -> None:
        if self._open is not None:
            self._waiting.epochs[self._open.project, self._open.run_id, done.epoch] = done

    def end(self, ending: Message, now: float) -> None:
        if self._open is not None:
            ended = replace(self._open, ended_at=now, ending=ending, seen_at=now)
            self._waiting.sessions[self._open.id] = ended
            self._open = None
            self.is_urgent = True

    def idle(self, reason: str, seconds: float, now: float) -> None:
        """Record `seconds` until `now` in which contributing was wanted but prevented by `reason`."""
        for hour, part in by_hour(now - seconds, now):
            key = hour, reason
            self._waiting.idle[key] = self._waiting.idle.get(key, 0.0) + part

    def setting(self, name: str, value: str) -> None:
        self._waiting.settings[name] = value
        self.is_urgent = True

    def notice(self, kind: str, message: Message, project: str | None, now: float) -> None:
        self._waiting.notices.append((kind, message, project, now))

    def flush(self) -> None:
        """Write all pending entries.

        Raises:
            StoreError: nothing was written; all entries stay pending.
        """
        self.is_urgent = False
        if not self._waiting:
            return
        with self.database.transaction() as connection:
            _write(connection, self._waiting)
            self.days.refresh(connection, (hour for _, hour in self._waiting.given))
        self._waiting = _Waiting()

    def reserve_sessions(self, count: int) -> int:
        """Reserve `count` session ids; returns the first."""
        first = self._last_id + 1
        self._last_id += count
        return first

    def forget(self) -> None:
        """Delete the whole record, on disk and pending. A running session continues and counts from zero.

        Raises:
            StoreError: nothing was deleted.
        """
        with self.database.transaction() as connection:
            for table in ("contribution", "day", "idle", "epoch", "session", "notice"):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names from this line
        self._waiting = _Waiting(settings=self._waiting.settings)
        if self._open is not None:
            self._waiting.sessions[self._open.id] = self._open

    def close_unfinished(self) -> None:
        """Mark the sessions of a killed engine as ended when they were last seen."""
        with self.database.transaction() as connection:
            connection.execute(
                f"UPDATE session SET ended_at = seen_at, ending = '{ENGINE_KILLED}' WHERE ending IS NULL"  # noqa: S608
            )

    def contributions_waiting(self) -> dict[tuple[int, int], Contribution]:
        return dict(self._waiting.given)

    def epochs_waiting(self, project: str, run_id: str) -> list[EpochDone]:
        return [done for key, done in self._waiting.epochs.items() if key[:2] == (project, run_id)]

    def idle_waiting(self) -> dict[tuple[int, str], float]:
        return dict(self._waiting.idle)

    def sessions_waiting(self) -> list[SessionRecord]:
        return list(self._waiting.sessions.values())

    def read_setting(self, name: str) -> str | None:
        if name in self._waiting.settings:
            return self._waiting.settings[name]
        rows = self.database.rows("SELECT value FROM setting WHERE name = ?", (name,))
        return rows[0]["value"] if rows else None


@dataclass(frozen=True)
class _Increment:
    """The increase of the totals; a decrease counts as none."""

    before: Counters
    after: Counters
    traffic_before: Traffic
    traffic_after: Traffic
    watts: float

    def values(self) -> dict[str, Any]:
        grown: dict[str, Any] = {name: self._grown(name) for name in GIVEN}
        told = {name: grown[name] if getattr(self.after, name) is not None else None for name in UNCERTAIN}
        if self.watts and self.after.processor_joules is None:
            told["estimated_joules"] = (told["estimated_joules"] or 0.0) + grown["cpu_seconds"] * self.watts
        return grown | told

    def _grown(self, name: str) -> float:
        traffic = name in ("uploaded", "downloaded")
        before, after = (self.traffic_before, self.traffic_after) if traffic else (self.before, self.after)
        return max(0, (getattr(after, name) or 0) - (getattr(before, name) or 0))


def by_hour(begin: float, end: float) -> Iterator[tuple[int, float]]:
    """The UTC hours of a period, each with its seconds."""
    while begin < end:
        hour = int(begin // HOUR * HOUR)
        until = min(end, float(hour + HOUR))
        yield hour, until - begin
        begin = until


def _write(connection: sqlite3.Connection, waiting: _Waiting) -> None:
    connection.executemany(
        "INSERT INTO session (id, project, run_id, started_at, ended_at, seen_at, ending, ending_params)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id,"
        " ended_at = excluded.ended_at, ending = excluded.ending, ending_params = excluded.ending_params,"
        " seen_at = excluded.seen_at",
        [
            (s.id, s.project, s.run_id, s.started_at, s.ended_at, s.seen_at, *stored_ending(s.ending))
            for s in waiting.sessions.values()
        ],
    )
    connection.executemany(_ADD_CONTRIBUTION, [_given(*item) for item in waiting.given.items()])
    connection.executemany(
        "INSERT INTO epoch VALUES (?, ?, ?, '', ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " loss = coalesce(excluded.loss, loss), own_samples = max(own_samples, excluded.own_samples),"
        " peers = excluded.peers, at = excluded.at",
        [(*key, done.loss, done.samples, done.peers, done.at) for key, done in waiting.epochs.items()],
    )
    connection.executemany(
        "INSERT INTO idle VALUES ('', ?, ?, ?) ON CONFLICT DO UPDATE SET seconds = seconds + excluded.seconds",
        [(*key, seconds) for key, seconds in waiting.idle.items()],
    )
    connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", waiting.settings.items())
    connection.executemany(
        "INSERT INTO notice (kind, message, project, at) VALUES (?, ?, ?, ?)",
        [(kind, msgspec.json.encode(message).decode(), *rest) for kind, message, *rest in waiting.notices],
    )


def stored_ending(ending: Message | None) -> tuple[str | None, str | None]:
    """Kind, and parameters as JSON; None without any."""
    if ending is None:
        return None, None
    return ending.kind, msgspec.json.encode(ending.params).decode() if ending.params else None


def _given(key: tuple[int, int], entry: Contribution) -> tuple[object, ...]:
    return (*key, *(getattr(entry, name) for name in GIVEN))


def _sum(name: str) -> str:
    if name not in UNCERTAIN:
        return f"{name} = {name} + excluded.{name}"
    return f"{name} = CASE WHEN {name} IS NULL THEN excluded.{name} ELSE {name} + coalesce(excluded.{name}, 0) END"


_ADD_CONTRIBUTION = (
    f"INSERT INTO contribution (session, hour, {', '.join(GIVEN)})"  # noqa: S608 - names from this file
    f" VALUES (?, ?, {', '.join('?' for _ in GIVEN)})"
    f" ON CONFLICT DO UPDATE SET {', '.join(_sum(name) for name in GIVEN)}"
)

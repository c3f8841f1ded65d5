"""What the engine records by itself: sessions, contributions, epochs, notices and the intent.

Entries wait in memory until `flush` writes them all in one transaction. A flush that fails keeps every one of them for
the next try, so a full disk costs nothing but the wait; readers see what waits as if it were written.
"""

import sqlite3
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from core.api.messages import Contribution
from core.api.session import Counters, EpochDone
from core.api.snapshot import Traffic
from core.store.database import Database, StoreError

HOUR = 3600
GIVEN = (
    "seconds", "samples", "rounds", "failed_rounds", "epochs", "cpu_seconds", "gpu_seconds", "joules",
    "uploaded", "downloaded",
)  # fmt: skip
"""What is summed up by session and hour, in the columns' order."""


@dataclass(frozen=True)
class SessionRecord:
    id: int
    project: str
    run_id: str
    started_at: float
    ended_at: float | None = None
    end_reason: str | None = None


@dataclass
class _Waiting:
    sessions: dict[int, SessionRecord] = field(default_factory=dict)
    given: dict[tuple[int, int], Contribution] = field(default_factory=dict)
    epochs: dict[tuple[str, str, int], EpochDone] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    notices: list[tuple[str, str, str | None, float]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.sessions or self.given or self.epochs or self.settings or self.notices)


class Journal:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting = _Waiting()
        self._last_id: int = database.rows("SELECT coalesce(max(id), 0) FROM session")[0][0]
        self._open: SessionRecord | None = None
        self._seen = Counters(), Traffic()

    @property
    def is_waiting(self) -> bool:
        """There are entries that are not on disk yet."""
        return bool(self._waiting)

    def begin(self, project: str, run_id: str, now: float) -> None:
        """A session starts; what `add` and `end` say from now on is about it."""
        self._last_id += 1
        self._open = SessionRecord(self._last_id, project, run_id, now)
        self._seen = Counters(), Traffic()
        self._waiting.sessions[self._last_id] = self._open

    def name_run(self, run_id: str) -> None:
        """The run became known after the session had started: the manifest was fetched meanwhile."""
        if self._open is not None:
            self._open = replace(self._open, run_id=run_id)
            self._waiting.sessions[self._open.id] = self._open

    def add(self, counters: Counters, traffic: Traffic, now: float) -> None:
        """Take the session's totals so far; what they grew by is given in the hour of `now`."""
        if self._open is None:
            return
        seen_counters, seen_traffic = self._seen
        self._seen = counters, traffic
        increment = _Increment(seen_counters, counters, seen_traffic, traffic).values()
        if not any(increment.values()):
            return
        hour = int(now // HOUR * HOUR)
        before = self._waiting.given.get((self._open.id, hour))
        entry = Contribution(session=self._open.id, project=self._open.project, hour=hour, **increment)
        self._waiting.given[self._open.id, hour] = entry if before is None else total(before, entry)

    def epoch(self, done: EpochDone) -> None:
        if self._open is not None:
            self._waiting.epochs[self._open.project, self._open.run_id, done.epoch] = done

    def end(self, reason: str, now: float) -> None:
        if self._open is not None:
            self._waiting.sessions[self._open.id] = replace(self._open, ended_at=now, end_reason=reason)
            self._open = None

    def setting(self, name: str, value: str) -> None:
        self._waiting.settings[name] = value

    def notice(self, kind: str, text: str, project: str | None, now: float) -> None:
        self._waiting.notices.append((kind, text, project, now))

    def flush(self) -> None:
        """Write all that waits.

        Raises:
            StoreError: nothing was written, and all of it goes on waiting.
        """
        if not self._waiting:
            return
        with self._database.transaction() as connection:
            _write(connection, self._waiting)
        self._waiting = _Waiting()

    def close_unfinished(self) -> None:
        """Mark the sessions of an engine that was killed; when they ended nobody knows."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE session SET end_reason = 'the engine ended' WHERE end_reason IS NULL")

    def contributions_waiting(self) -> dict[tuple[int, int], Contribution]:
        return dict(self._waiting.given)

    def epochs_waiting(self, project: str, run_id: str) -> list[EpochDone]:
        return [done for key, done in self._waiting.epochs.items() if key[:2] == (project, run_id)]

    def read_setting(self, name: str) -> str | None:
        if name in self._waiting.settings:
            return self._waiting.settings[name]
        rows = self._database.rows("SELECT value FROM setting WHERE name = ?", (name,))
        return rows[0]["value"] if rows else None


@dataclass(frozen=True)
class _Increment:
    """What the totals grew by; a total that shrank counts as unchanged."""

    before: Counters
    after: Counters
    traffic_before: Traffic
    traffic_after: Traffic

    def values(self) -> dict[str, Any]:
        grown = {name: self._grown(name) for name in GIVEN}
        return {**grown, "joules": None if self.after.joules is None else grown["joules"]}

    def _grown(self, name: str) -> float:
        traffic = name in ("uploaded", "downloaded")
        before, after = (self.traffic_before, self.traffic_after) if traffic else (self.before, self.after)
        return max(0, (getattr(after, name) or 0) - (getattr(before, name) or 0))


def total(one: Contribution, other: Contribution) -> Contribution:
    """Both together, under the session and hour of the first; joules stay unknown only if neither knows them."""
    sums = {name: (getattr(one, name) or 0) + (getattr(other, name) or 0) for name in GIVEN}
    if one.joules is None and other.joules is None:
        sums["joules"] = None
    return msgspec.structs.replace(one, **sums)


def _write(connection: sqlite3.Connection, waiting: _Waiting) -> None:
    connection.executemany(
        "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " run_id = excluded.run_id, ended_at = excluded.ended_at, end_reason = excluded.end_reason",
        [(s.id, s.project, s.run_id, s.started_at, s.ended_at, s.end_reason) for s in waiting.sessions.values()],
    )
    connection.executemany(_ADD_CONTRIBUTION, [_given(*item) for item in waiting.given.items()])
    connection.executemany(
        "INSERT INTO epoch VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET loss = coalesce(excluded.loss, loss),"
        " own_samples = max(own_samples, excluded.own_samples), peers = excluded.peers, at = excluded.at",
        [(*key, done.loss, done.samples, done.peers, done.at) for key, done in waiting.epochs.items()],
    )
    connection.executemany("INSERT OR REPLACE INTO setting VALUES (?, ?)", waiting.settings.items())
    connection.executemany("INSERT INTO notice (kind, text, project, at) VALUES (?, ?, ?, ?)", waiting.notices)


def _given(key: tuple[int, int], entry: Contribution) -> tuple[object, ...]:
    return (*key, *(getattr(entry, name) for name in GIVEN))


_KNOWN = [name for name in GIVEN if name != "joules"]
_ADD_CONTRIBUTION = (
    f"INSERT INTO contribution VALUES (?, ?, {', '.join('?' for _ in GIVEN)})"  # noqa: S608 - names from this file
    f" ON CONFLICT DO UPDATE SET {', '.join(f'{name} = {name} + excluded.{name}' for name in _KNOWN)},"
    " joules = CASE WHEN joules IS NULL THEN excluded.joules ELSE joules + coalesce(excluded.joules, 0) END"
)

__all__ = ["GIVEN", "HOUR", "Journal", "SessionRecord", "StoreError", "total"]

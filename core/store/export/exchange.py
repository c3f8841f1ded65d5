"""Exports the record to a file, and imports one.

A second import of the same file changes nothing: sessions are identified by their origin and start, and of two entries
for the same hour the larger counts, since entries only grow.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from core.api.errors import UsageError, os_errors_as
from core.api.message import Message
from core.api.record.totals import GIVEN, UNCERTAIN
from core.store.export.history_csv import NoHistory, from_csv, short
from core.store.export.history_file import FORMAT, File, FileEpoch, FileHour, FileIdle, FileSession
from core.store.journal import ENGINE_KILLED, Journal, put_contribution, stored_ending, values_given
from core.store.queries.view import View

LARGEST = 512 << 20
"""Bytes of an imported file: a hundred years of all hours."""
_AT_ONCE = 500
"""Sessions in one transaction of an import; the engine answers in between."""


def collect(view: View, own: str, now: float) -> File:
    """The record of a view. `own` is its id on other computers."""
    hours: dict[int, list[FileHour]] = {}
    for row in view.rows("SELECT * FROM contribution ORDER BY hour"):
        given = {name: row[name] for name in ("hour", *GIVEN)}
        hours.setdefault(row["session"], []).append(FileHour(**given))
    columns = "id, origin, project, run_id, started_at, ended_at, ending, ending_params"
    sessions = tuple(
        FileSession(*(row[1] or own, *row[2:], tuple(hours.get(row[0], ()))))
        for row in view.rows(f"SELECT {columns} FROM session ORDER BY started_at, id")  # noqa: S608 - see above
    )
    idle = (FileIdle(row[0] or own, *row[1:]) for row in view.rows("SELECT origin, hour, reason, seconds FROM idle"))
    epochs = (
        FileEpoch(row[0] or own, *row[1:])
        for row in view.rows("SELECT origin, project, run_id, epoch, own_samples, peers, at, loss FROM epoch")
    )
    return File(FORMAT, 1, now, sessions, tuple(idle), tuple(epochs))  # type: ignore[arg-type]  # the literal


def read(path: Path) -> File:
    """Read and check an export, JSON or CSV.

    Raises:
        UsageError: it is not an export, or damaged.
        WorldError: it cannot be read.
    """
    with os_errors_as("file_unreadable", path=str(path)), path.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UsageError("history_too_large", path=str(path), most=LARGEST)
    try:
        return msgspec.json.decode(data, type=File) if data.lstrip()[:1] in (b"{", b"[") else from_csv(data)
    except NoHistory as error:
        raise UsageError("table_not_a_history", path=str(path), line=error.line, problem=error.message) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise UsageError("not_a_history", path=str(path), detail=short(error)) from error


def import_into(journal: Journal, file: File, own: str) -> Iterator[int]:
    """Add a file to the record in parts; yields the number of new hours after each.

    Raises:
        StoreError: the rest was not imported; another import completes it.
    """
    for begin in range(0, len(file.sessions), _AT_ONCE):
        yield _import_sessions(journal, file.sessions[begin : begin + _AT_ONCE], own)
    with journal.database.transaction() as connection:
        connection.executemany(
            "INSERT INTO idle VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET seconds = max(seconds, excluded.seconds)",
            [(_origin(idle.origin, own), idle.hour, idle.reason, idle.seconds) for idle in file.idle],
        )
        connection.executemany(
            "INSERT INTO epoch VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " loss = coalesce(loss, excluded.loss), own_samples = max(own_samples, excluded.own_samples),"
            " peers = max(peers, excluded.peers)",
            [
                (e.project, e.run_id, e.epoch, _origin(e.origin, own), e.loss, e.own_samples, e.peers, e.at)
                for e in file.epochs
            ],
        )
    yield 0


def _import_sessions(journal: Journal, sessions: tuple[FileSession, ...], own: str) -> int:
    following = journal.reserve_sessions(len(sessions))
    with journal.database.transaction() as connection:
        before = connection.execute("SELECT count(*) FROM contribution").fetchone()[0]
        for number, session in enumerate(sessions, following):
            origin = _origin(session.origin, own)
            known = connection.execute(
                "SELECT id FROM session WHERE started_at = ? AND origin = ? AND project = ?",
                (session.started_at, origin, session.project),
            ).fetchone()
            if known is None:
                about = session.project, session.run_id, session.started_at, session.ended_at, origin
                connection.execute(
                    "INSERT INTO session (id, project, run_id, started_at, ended_at, origin, ending, ending_params)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    (number, *about, *_ending(session)),
                )
            key = number if known is None else known["id"]
            connection.executemany(_MERGE_HOUR, [(key, hour.hour, *values_given(hour)) for hour in session.hours])
        journal.days.refresh(connection, (hour.hour for session in sessions for hour in session.hours))
        after: int = connection.execute("SELECT count(*) FROM contribution").fetchone()[0]
        return after - int(before)


_OLDER_ENDINGS = {"the engine ended": ENGINE_KILLED, "exported while it ran": "exported_running"}
_KINDS = re.compile(r"([a-z_]+)(, [a-z_]+)*")


def _ending(session: FileSession) -> tuple[str | None, str | None]:
    """Kind and parameters. An older file can have several reasons, of which the first is used, or a sentence."""
    ending = session.ending
    if ending is None:
        # It still ran when it was exported.
        return "exported_running", None
    if known := _OLDER_ENDINGS.get(ending):
        return known, None
    if kinds := _KINDS.fullmatch(ending):
        return kinds[1], session.ending_params
    return stored_ending(Message("recorded_text", {"text": ending}))


def _origin(origin: str, own: str) -> str:
    return "" if origin == own else origin


def _larger(name: str) -> str:
    if name not in UNCERTAIN:
        return f"{name} = max({name}, excluded.{name})"
    return f"{name} = max(coalesce({name}, excluded.{name}), coalesce(excluded.{name}, {name}))"


_MERGE_HOUR = put_contribution(_larger)

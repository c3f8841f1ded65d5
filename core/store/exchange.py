"""The record as a file that can be carried to another computer: written whole, checked whole before anything is taken.

Taking the same file twice changes nothing: sessions are known by where and when they began, and of two accounts of the
same hour the larger counts, since a session only ever adds to it.
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.api.errors import UsageError, WorldError
from core.store.journal import GIVEN, UNCERTAIN, Journal
from core.store.overview import View

FORMAT = "idlehive-history"
LARGEST = 512 << 20
"""Bytes of a file that is read: a hundred years of every hour."""
_AT_ONCE = 500
"""Sessions in one transaction of an import, so that the engine answers in between."""

Name = Annotated[str, Meta(max_length=300)]
Sentence = Annotated[str, Meta(max_length=4000)]
Count = Annotated[int, Meta(ge=0, le=1 << 60)]
Amount = Annotated[float, Meta(ge=0, le=1e24)]
Moment = Annotated[float, Meta(ge=0, le=1e11)]
Hour = Annotated[int, Meta(ge=0, le=10**11, multiple_of=3600)]


class FileHour(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a session gave in one hour; names and units as in `Contribution`."""

    hour: Hour
    seconds: Amount = 0.0
    samples: Count = 0
    rounds: Count = 0
    failed_rounds: Count = 0
    epochs: Count = 0
    cpu_seconds: Amount = 0.0
    gpu_seconds: Amount = 0.0
    joules: Amount | None = None
    uploaded: Count = 0
    downloaded: Count = 0
    accepted: Count | None = None
    flops: Amount | None = None
    processor_joules: Amount | None = None
    estimated_joules: Amount | None = None
    peers_met: Count = 0
    averaging_up: Count = 0
    averaging_down: Count = 0
    state_up: Count = 0
    state_down: Count = 0
    dht_up: Count = 0
    dht_down: Count = 0
    data_up: Count = 0
    data_down: Count = 0


class FileSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    origin: Name
    """The record that it was recorded in."""
    project: Name
    run_id: Name
    started_at: Moment
    ended_at: Moment | None = None
    ending: Sentence | None = None
    hours: tuple[FileHour, ...] = ()


class FileIdle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    origin: Name
    hour: Hour
    reason: Name
    seconds: Amount


class FileEpoch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    origin: Name
    project: Name
    run_id: Name
    epoch: Count
    own_samples: Count
    peers: Count
    at: Moment
    loss: float | None = None


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole record."""

    format: Literal["idlehive-history"]
    version: Literal[1]
    written_at: Moment
    sessions: tuple[FileSession, ...]
    idle: tuple[FileIdle, ...]
    epochs: tuple[FileEpoch, ...]


def collect(view: View, own: str, now: float) -> File:
    """The record of a view. `own` is the name by which it is known elsewhere."""
    hours: dict[int, list[FileHour]] = {}
    for row in view.rows("SELECT * FROM contribution ORDER BY hour"):
        given = {name: row[name] for name in ("hour", *GIVEN)}
        hours.setdefault(row["session"], []).append(FileHour(**given))
    sessions = tuple(
        FileSession(
            row["origin"] or own,
            row["project"],
            row["run_id"],
            row["started_at"],
            row["ended_at"],
            row["end_reason"],
            tuple(hours.get(row["id"], ())),
        )
        for row in view.rows("SELECT * FROM session ORDER BY started_at, id")
    )
    idle = (FileIdle(row[0] or own, *row[1:]) for row in view.rows("SELECT origin, hour, reason, seconds FROM idle"))
    epochs = (
        FileEpoch(row[0] or own, *row[1:])
        for row in view.rows("SELECT origin, project, run_id, epoch, own_samples, peers, at, loss FROM epoch")
    )
    return File(FORMAT, 1, now, sessions, tuple(idle), tuple(epochs))  # type: ignore[arg-type]  # the literal


def as_json(file: File) -> bytes:
    return msgspec.json.format(msgspec.json.encode(file), indent=1)


def as_csv(file: File) -> bytes:
    """One row for each session and hour; times in UTC seconds, nothing where nothing is known."""
    text = io.StringIO()
    about = ("project", "run_id", "origin", "started_at", "ended_at", "ending")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*about, "hour", *GIVEN))
    for session in file.sessions:
        head = [getattr(session, name) for name in about]
        for hour in session.hours:
            writer.writerow((*head, hour.hour, *(getattr(hour, name) for name in GIVEN)))
    return text.getvalue().encode()


def read(path: Path) -> File:
    """An export, checked.

    Raises:
        UsageError: it is none, or a damaged one.
        WorldError: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except OSError as error:
        raise WorldError(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST:
        raise UsageError(f"{path} is larger than {LARGEST >> 20} MiB: it is no history of Idlehive.")
    try:
        return msgspec.json.decode(data, type=File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is no history that Idlehive has exported as JSON: {_short(error)}.") from error


def take(journal: Journal, file: File, own: str) -> Iterator[int]:
    """Add a file to the record; yields the number of new hours after each part, for others to have their turn.

    Raises:
        StoreError: the rest was not taken; taking the file again completes it.
    """
    for begin in range(0, len(file.sessions), _AT_ONCE):
        yield _take_sessions(journal, file.sessions[begin : begin + _AT_ONCE], own)
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


def _take_sessions(journal: Journal, sessions: tuple[FileSession, ...], own: str) -> int:
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
                # One that still ran when it was exported ended where nobody saw it.
                ending = session.ending or "exported while it ran"
                connection.execute(
                    "INSERT INTO session (id, project, run_id, started_at, ended_at, end_reason, origin)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (number, session.project, session.run_id, session.started_at, session.ended_at, ending, origin),
                )
            key = number if known is None else known["id"]
            connection.executemany(_TAKE, [(key, *_values(hour)) for hour in session.hours])
        after: int = connection.execute("SELECT count(*) FROM contribution").fetchone()[0]
        return after - int(before)


def _origin(origin: str, own: str) -> str:
    return "" if origin == own else origin


def _values(hour: FileHour) -> tuple[object, ...]:
    return (hour.hour, *(getattr(hour, name) for name in GIVEN))


def _larger(name: str) -> str:
    if name not in UNCERTAIN:
        return f"{name} = max({name}, excluded.{name})"
    return f"{name} = max(coalesce({name}, excluded.{name}), coalesce(excluded.{name}, {name}))"


def _short(error: Exception) -> str:
    return str(error).strip().rstrip(".")[:200] or type(error).__name__


_TAKE = (
    f"INSERT INTO contribution (session, hour, {', '.join(GIVEN)})"  # noqa: S608 - names from the code
    f" VALUES (?, ?, {', '.join('?' for _ in GIVEN)})"
    f" ON CONFLICT DO UPDATE SET {', '.join(_larger(name) for name in GIVEN)}"
)

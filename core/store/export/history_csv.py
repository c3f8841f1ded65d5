"""The record as one table for spreadsheets, as complete as JSON: a row for each session and hour, then the rest.

What a row is about stands in its first column; a cell that is empty is not known, or does not concern that row.
"""

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from core.api.record.totals import GIVEN
from core.store.export.history_file import FORMAT, File, FileEpoch, FileHour, FileIdle, FileSession

_SESSION = ("origin", "project", "run_id", "started_at", "ended_at", "ending")
_EPOCH = ("epoch", "own_samples", "peers", "at", "loss")
COLUMNS = ("record", *_SESSION, "hour", *GIVEN, "reason", "idle_seconds", *_EPOCH)

Row = dict[str, Any]


def as_csv(file: File) -> bytes:
    """Times in UTC seconds."""
    text = io.StringIO()
    # Lines end as RFC 4180 says; by that a lone carriage return in a field is quoted too.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_rows(file))
    return text.getvalue().encode()


def from_csv(data: bytes) -> File:
    """A file that `as_csv` made, or a spreadsheet that kept its columns' names, in whatever order.

    Raises:
        ValueError: it is none; the text tells why, and where.
    """
    # Spreadsheets begin UTF-8 with a mark.
    table = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    sessions: dict[tuple[Any, ...], tuple[Row, list[FileHour]]] = {}
    idle: list[FileIdle] = []
    epochs: list[FileEpoch] = []
    try:
        header = _header(next(table, []))
        for cells in table:
            if any(cells):
                _take(_row(header, cells), sessions, idle, epochs)
    except (csv.Error, ValueError, msgspec.ValidationError) as error:
        raise ValueError(f"line {max(1, table.line_num)}: {error}") from error
    made = (FileSession(**about, hours=tuple(hours)) for about, hours in sessions.values())
    return File(FORMAT, 1, 0.0, tuple(made), tuple(idle), tuple(epochs))  # type: ignore[arg-type]  # the literal


def _rows(file: File) -> Iterator[Row]:
    for session in file.sessions:
        about = {name: getattr(session, name) for name in _SESSION}
        for hour in session.hours:
            yield {"record": "hour", **about, **{name: getattr(hour, name) for name in ("hour", *GIVEN)}}
        if not session.hours:
            yield {"record": "session", **about}
    for idle in file.idle:
        yield {"record": "idle", "origin": idle.origin, "hour": idle.hour, "reason": idle.reason,
               "idle_seconds": idle.seconds}  # fmt: skip
    for epoch in file.epochs:
        yield {"record": "epoch", **msgspec.structs.asdict(epoch)}


def _header(cells: list[str]) -> list[str]:
    if not {"record", "origin", "project", "hour"} <= set(cells) or len(set(cells)) < len(cells):
        raise ValueError("it does not begin with the names of its columns")
    if unknown := set(cells) - set(COLUMNS):
        raise ValueError(f"there is no column {min(unknown)[:40]!r}")
    return cells


def _row(header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise ValueError(f"it has {len(cells)} cells, not {len(header)}")
    return {name: cell for name, cell in zip(header, cells, strict=True) if cell}


def _take(
    row: Row,
    sessions: dict[tuple[Any, ...], tuple[Row, list[FileHour]]],
    idle: list[FileIdle],
    epochs: list[FileEpoch],
) -> None:
    match row.pop("record", ""):
        case "hour" | "session" as kind:
            about = {name: row.pop(name) for name in _SESSION if name in row}
            plain = msgspec.structs.asdict(msgspec.convert(about, FileSession, strict=False))
            del plain["hours"]
            _, hours = sessions.setdefault(tuple(plain.values()), (plain, []))
            if kind == "hour":
                hours.append(msgspec.convert(row, FileHour, strict=False))
            elif row:
                raise ValueError(f"a session has no {min(row)!r}")
        case "idle":
            if "idle_seconds" in row:
                row["seconds"] = row.pop("idle_seconds")
            idle.append(msgspec.convert(row, FileIdle, strict=False))
        case "epoch":
            epochs.append(msgspec.convert(row, FileEpoch, strict=False))
        case other:
            raise ValueError(f"there is no record {str(other)[:40]!r}")

"""The record as one table for spreadsheets, as complete as JSON: a row for each session and hour, then the rest.

The first column has the kind of the row. An empty cell is unknown, or has no meaning in that row.
"""

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from core.api.errors import UsageError
from core.api.record.totals import GIVEN
from core.store.export.history_file import FORMAT, File, FileEpoch, FileHour, FileIdle, FileSession

_SESSION = ("origin", "project", "run_id", "started_at", "ended_at", "ending", "ending_params")
_EPOCH = ("epoch", "own_samples", "peers", "at", "loss")
COLUMNS = ("record", *_SESSION, "hour", *GIVEN, "reason", "idle_seconds", *_EPOCH)

Row = dict[str, Any]


class NoHistory(UsageError):
    """The table is not an export; `line` is counted from 1."""

    line = 1


def short(error: Exception) -> str:
    """A library's message in one line, without a full stop."""
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__


def as_csv(file: File) -> bytes:
    """Times in UTC seconds."""
    text = io.StringIO()
    # RFC 4180's line end also makes csv quote a lone carriage return in a field.
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(_rows(file))
    return text.getvalue().encode()


def from_csv(data: bytes) -> File:
    """Read a table of `as_csv`; a spreadsheet may have changed the order of its columns.

    Raises:
        NoHistory: it is not such a table.
        ValueError: it is not UTF-8.
    """
    # Spreadsheets write a byte order mark.
    table = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
    sessions: dict[tuple[Any, ...], tuple[Row, list[FileHour]]] = {}
    idle: list[FileIdle] = []
    epochs: list[FileEpoch] = []
    try:
        header = _header(next(table, []))
        for cells in table:
            if any(cells):
                _add_row(_row(header, cells), sessions, idle, epochs)
    except (NoHistory, csv.Error, ValueError) as error:
        wrong = error if isinstance(error, NoHistory) else NoHistory("table_invalid", detail=short(error))
        wrong.line = max(1, table.line_num)
        raise wrong from error
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
        raise NoHistory("table_without_names")
    if unknown := set(cells) - set(COLUMNS):
        raise NoHistory("table_column_unknown", column=min(unknown)[:40])
    return cells


def _row(header: list[str], cells: list[str]) -> Row:
    if len(cells) != len(header):
        raise NoHistory("table_row_length", given=len(cells), needed=len(header))
    return {name: cell for name, cell in zip(header, cells, strict=True) if cell}


def _add_row(
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
                raise NoHistory("table_cell_unexpected", column=min(row))
        case "idle":
            if "idle_seconds" in row:
                row["seconds"] = row.pop("idle_seconds")
            idle.append(msgspec.convert(row, FileIdle, strict=False))
        case "epoch":
            epochs.append(msgspec.convert(row, FileEpoch, strict=False))
        case other:
            raise NoHistory("table_record_unknown", record=str(other)[:40])

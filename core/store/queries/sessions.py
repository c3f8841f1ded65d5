"""Lists and counts the sessions of a view, and their endings."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from core.api.message import Message, Param
from core.api.record.record import MOST_SESSIONS, Contribution, GetSessions, SessionGiven, Sums
from core.api.record.totals import together
from core.store.days import SUMS
from core.store.journal import SessionRecord, stored_ending
from core.store.queries.view import View, added

MOST_ENDINGS = 12
_STORED = ("id", "project", "run_id", "started_at", "ended_at", "ending", "ending_params")


def sessions(view: View, wanted: GetSessions, name_of: Callable[[str], str]) -> list[SessionGiven]:
    """Newest first. `name_of` returns a project's name."""
    ends = [moment for moment in (wanted.until, wanted.before) if moment is not None]
    since = float("-inf") if wanted.since is None else wanted.since
    until = min(ends, default=float("inf"))
    query = (
        f"SELECT {', '.join(_STORED)}, origin FROM session"  # noqa: S608 - names from this file
        " WHERE started_at >= ? AND started_at < ? AND (?3 IS NULL OR project = ?3)"
        " AND (?4 IS NULL OR ending = ?4) ORDER BY started_at DESC LIMIT ?5"
    )
    values = since, until, wanted.project, wanted.ending, MOST_SESSIONS
    found = {row["id"]: dict(row) for row in view.rows(query, *values)}
    for session in view.pending_sessions.values():
        kind, params = stored_ending(session.ending)
        matches = wanted.project in {None, session.project} and wanted.ending in {None, kind}
        if matches and since <= session.started_at < until:
            found[session.id] = {**asdict(session), "ending": kind, "ending_params": params, "origin": ""}
    newest = sorted(found.values(), key=lambda row: -row["started_at"])[:MOST_SESSIONS]
    sums = _sums(view, [row["id"] for row in newest])
    return [_given(row, name_of(row["project"]), sums[row["id"]]) for row in newest]


def count_sessions(view: View, since: float, until: float) -> int:
    """The number of sessions that began in the period."""
    [row] = view.rows("SELECT count(*) FROM session WHERE started_at >= ? AND started_at < ?", since, until)
    pending = (session for session in view.pending_sessions.values() if since <= session.started_at < until)
    return int(row[0]) + sum(not _is_stored(view, session) for session in pending)


def endings(view: View, since: float, until: float) -> dict[str, int]:
    """Numbers of sessions by ending, most frequent first."""
    query = (
        "SELECT ending, count(*) FROM session WHERE started_at >= ? AND started_at < ?"
        " AND ending IS NOT NULL GROUP BY ending ORDER BY 2 DESC LIMIT ?"
    )
    return {row[0]: row[1] for row in view.rows(query, since, until, MOST_ENDINGS)}


def _is_stored(view: View, session: SessionRecord) -> bool:
    return bool(view.rows("SELECT 1 FROM session WHERE id = ?", session.id))


def _sums(view: View, ids: list[int]) -> dict[int, Sums]:
    query = (
        f"SELECT session, {SUMS} FROM contribution WHERE session IN ({', '.join('?' * len(ids))})"  # noqa: S608
        " GROUP BY session"
    )
    stored = {row["session"]: added(row, ()) for row in view.rows(query, *ids)}
    pending: dict[int, list[Contribution]] = defaultdict(list)
    for entry in view.pending():
        pending[entry.session].append(entry)
    return {number: together(stored.get(number, Sums()), pending[number]) for number in ids}


def _given(row: Mapping[str, Any], name: str, sums: Sums) -> SessionGiven:
    return SessionGiven(
        id=row["id"],
        project=row["project"],
        name=name,
        run_id=row["run_id"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        ending=_ending(row["ending"], row["ending_params"]),
        imported=bool(row["origin"]),
        sums=sums,
    )


def _ending(kind: str | None, params: str | None) -> Message | None:
    """The ending from its columns, without unreadable parameters, which an import can contain."""
    if kind is None:
        return None
    try:
        return Message(kind, msgspec.json.decode(params or "{}", type=dict[str, Param]))
    except msgspec.DecodeError:
        return Message(kind)

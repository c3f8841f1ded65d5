"""Lists the events of a view."""

from collections.abc import Callable

import msgspec

from core.api.message import Message
from core.api.record.events import MOST_EVENTS, GetEvents, PastEvent
from core.store.queries.view import View


def events(view: View, wanted: GetEvents, name_of: Callable[[str], str]) -> list[PastEvent]:
    """Newest first. `name_of` returns a project's name."""
    query = "SELECT kind, message, project, at FROM notice WHERE (?1 IS NULL OR project = ?1) ORDER BY id DESC LIMIT ?2"
    stored = [
        (row["kind"], msgspec.json.decode(row["message"], type=Message), row["project"], row["at"])
        for row in view.rows(query, wanted.project, MOST_EVENTS)
    ]
    pending = [entry for entry in reversed(view.pending_notices) if wanted.project in {None, entry[2]}]
    return [
        PastEvent(kind, message, at, project, name_of(project) if project else "")
        for kind, message, project, at in [*pending, *stored][:MOST_EVENTS]
    ]

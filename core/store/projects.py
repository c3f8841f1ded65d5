"""Projects in the volunteer's list, and memberships in them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from core.api.project.manifest import Manifest
from core.api.project.manifest_reading import read_stored
from core.store.database import Database

Keeper = Literal["keyring", "file"]
"""Where a secret is stored."""


@dataclass(frozen=True)
class Project:
    """A stored project. `joined_at` is None if it is not joined."""

    id: str
    source: str
    manifest: Manifest | None
    joined_at: float | None = None
    secret: Keeper | None = None


class Projects:
    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Project]:
        """Memberships by rank, then other projects."""
        query = (
            "SELECT id, source, manifest, joined_at, secret FROM project"
            " LEFT JOIN membership ON membership.project = project.id"
            " ORDER BY joined_at IS NULL, rank, added_at, id"
        )
        return [_project(row) for row in self._database.rows(query)]

    def put(self, id: str, source: str, manifest: Manifest | None, now: float) -> None:  # noqa: A002
        """Add a project, or update its source and, if given, its manifest."""
        text = None if manifest is None else msgspec.json.encode(manifest).decode()
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO project VALUES (?, ?, ?, ?) ON CONFLICT (id)"
                " DO UPDATE SET source = excluded.source, manifest = coalesce(excluded.manifest, manifest)",
                (id, source, text, now),
            )

    def join(self, project: str, now: float) -> None:
        """Become a member, ranked last. Members keep their rank."""
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO membership (project, joined_at, rank)"
                " SELECT ?, ?, coalesce(max(rank), 0) + 1 FROM membership WHERE true ON CONFLICT DO NOTHING",
                (project, now),
            )

    def order(self, first: Sequence[str]) -> None:
        """Rank these memberships first, in this order; the others follow."""
        with self._database.transaction() as connection:
            rows = connection.execute("SELECT project FROM membership ORDER BY rank, joined_at, project").fetchall()
            members = [row["project"] for row in rows]
            ranked = [*(name for name in first if name in members), *(name for name in members if name not in first)]
            connection.executemany(
                "UPDATE membership SET rank = ? WHERE project = ?",
                [(rank, name) for rank, name in enumerate(ranked, 1)],
            )

    def set_keeper(self, project: str, keeper: Keeper | None) -> None:
        with self._database.transaction() as connection:
            connection.execute("UPDATE membership SET secret = ? WHERE project = ?", (keeper, project))

    def leave(self, project: str) -> None:
        """End the membership; the project and its history stay."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM membership WHERE project = ?", (project,))

    def remove(self, project: str) -> None:
        """Take it off the list, unless it is joined; its history stays."""
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM project WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM membership WHERE project = ?1)",
                (project,),
            )


def _project(row: sqlite3.Row) -> Project:
    return Project(
        id=row["id"],
        source=row["source"],
        manifest=_manifest(row["manifest"]),
        joined_at=row["joined_at"],
        secret=row["secret"],
    )


def _manifest(text: str | None) -> Manifest | None:
    """None too if only an older version accepted it: it is then fetched again."""
    try:
        return None if text is None else read_stored(text)
    except msgspec.DecodeError:
        return None

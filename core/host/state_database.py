"""A SQLite file in the backbone's state folder."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from core.api.errors import WorldError


class StateDatabase:
    """Thread-safe. All methods raise WorldError if the file is not usable."""

    def __init__(self, path: Path, tables: str) -> None:
        self.path = path
        self._lock = Lock()
        with self._as_world_error():
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(tables)

    def rows(self, query: str, *values: object) -> list[Any]:
        with self._lock, self._as_world_error():
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction."""
        with self._lock, self._as_world_error(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _as_world_error(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise WorldError("record_unusable", path=str(self.path), detail=str(error)) from None

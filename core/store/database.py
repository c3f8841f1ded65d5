"""The SQLite file: opening, migrating, transactions, and its failures as sentences."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.api.errors import WorldError
from core.store.migrations import MIGRATIONS

_PATIENCE = 2.0
"""Seconds to wait for another program that reads the file, a backup for instance."""


class StoreError(WorldError):
    """The record cannot be read or written now. Nothing that was written before is lost."""


class Database:
    """One open file in WAL mode. Used from the thread that opened it."""

    def __init__(self, path: Path) -> None:
        """Open, check and migrate.

        Raises:
            StoreError: the file is damaged, cannot be written, or is newer than this program.
        """
        self.path = path
        with self.sentences():
            self._connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
        try:
            with self.sentences():
                self._prepare()
        except StoreError:
            self._connection.close()
            raise

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        """All rows of a query.

        Raises:
            StoreError: the file cannot be read.
        """
        with self.sentences():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing.

        Raises:
            StoreError: nothing of it was written.
        """
        with self.sentences():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                # A full disk may have rolled back already, and a second ROLLBACK would hide the first error.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with self.sentences():
            self._connection.close()

    def _prepare(self) -> None:
        self._connection.row_factory = sqlite3.Row
        # With NORMAL a power cut may cost all since the last checkpoint: hours of a quiet engine. One sync for each
        # transaction, every ten seconds while it works, is no price.
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        )
        if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise StoreError(self._damaged())
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise StoreError(f"{self.path} was written by a newer Idlehive; update Idlehive to open it.")
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.executescript(f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {number}; COMMIT;")
        # A file that can be read but not written is better refused now than after an hour of work.
        self._connection.executescript("BEGIN IMMEDIATE; ROLLBACK;")

    @contextlib.contextmanager
    def sentences(self) -> Iterator[None]:
        """SQLite's errors as StoreErrors, about this file."""
        try:
            yield
        except sqlite3.Error as error:
            raise StoreError(self._sentence(error)) from error

    def _sentence(self, error: sqlite3.Error) -> str:
        known = {
            "SQLITE_FULL": f"The disk is full: {self.path} cannot grow. Free some space.",
            "SQLITE_IOERR": f"The disk does not take what is written to {self.path}; it may be full or failing.",
            "SQLITE_READONLY": f"{self.path} cannot be written; check its permissions and the disk.",
            "SQLITE_CANTOPEN": f"{self.path} cannot be opened; check the folder, its permissions and the disk.",
            "SQLITE_BUSY": f"{self.path} is in use by another program.",
            "SQLITE_CORRUPT": self._damaged(),
            "SQLITE_NOTADB": self._damaged(),
        }
        name = "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2])
        return known.get(name, f"{self.path} cannot be used: {error}.")

    def _damaged(self) -> str:
        return f"{self.path} is damaged. Move it away, and Idlehive begins a new record; or restore a copy of it."

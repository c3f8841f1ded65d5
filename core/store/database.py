"""The SQLite file: opening, migrating, transactions, and its failures as data."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from core.api.errors import WorldError
from core.store.migrations import MIGRATIONS

_TIMEOUT = 2.0
"""Seconds to wait for another program that uses the file, for example a backup."""


class StoreError(WorldError):
    """The record cannot be read or written; nothing written before is lost."""


class Database:
    """An open file in WAL mode, for the thread that opened it. Every method can raise StoreError."""

    def __init__(self, path: Path, *, to_read: bool = False) -> None:
        """Open, check and migrate. Refuses a file that is damaged, read-only, or newer than this program.

        `to_read`: as it is, and nothing can be written.
        """
        self.path = path
        if to_read:
            with self.errors_as_data():
                self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=_TIMEOUT)
                self._connection.row_factory = sqlite3.Row
            return
        with self.errors_as_data():
            self._connection = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)
        try:
            with self.errors_as_data():
                self._prepare()
        except StoreError:
            self._connection.close()
            raise

    def rows(self, query: str, values: Sequence[object] = ()) -> list[sqlite3.Row]:
        with self.errors_as_data():
            return self._connection.execute(query, values).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing: after a StoreError nothing has been written."""
        with self.errors_as_data():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                # A full disk may have rolled back already, and a second ROLLBACK would hide the first error.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with self.errors_as_data():
            self._connection.close()

    def _prepare(self) -> None:
        self._connection.row_factory = sqlite3.Row
        # With NORMAL, a power cut can lose everything since the last checkpoint, which may be hours ago. FULL costs one
        # sync for each transaction, at most every ten seconds.
        self._connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
        )
        if self._connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise StoreError("record_damaged", path=str(self.path))
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > len(MIGRATIONS):
            raise StoreError("record_newer", path=str(self.path))
        if 0 < version < len(MIGRATIONS):
            self._back_up(version)
        for number, script in enumerate(MIGRATIONS[version:], version + 1):
            self._connection.executescript(f"BEGIN IMMEDIATE; {script}; PRAGMA user_version = {number}; COMMIT;")
        # Refuse a read-only file now and not after an hour of work.
        self._connection.executescript("BEGIN IMMEDIATE; ROLLBACK;")

    def _back_up(self, version: int) -> None:
        """Keep the file as the older program left it, so that this program can be taken back."""
        backup = self.path.with_name(f"{self.path.name}.version-{version}")
        part = backup.with_name(f"{backup.name}.part")
        part.unlink(missing_ok=True)
        self._connection.execute("VACUUM INTO ?", (str(part),))
        part.replace(backup)

    @contextlib.contextmanager
    def errors_as_data(self) -> Iterator[None]:
        """Raise SQLite's errors as StoreErrors about this file."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._store_error(error) from error

    def _store_error(self, error: sqlite3.Error) -> StoreError:
        path = str(self.path)
        match "_".join(getattr(error, "sqlite_errorname", "").split("_")[:2]):
            case "SQLITE_FULL":
                return StoreError("disk_full", path=path)
            case "SQLITE_IOERR":
                return StoreError("record_io_failed", path=path)
            case "SQLITE_READONLY":
                return StoreError("record_read_only", path=path)
            case "SQLITE_CANTOPEN":
                return StoreError("record_not_opened", path=path)
            case "SQLITE_BUSY":
                return StoreError("record_in_use", path=path)
            case "SQLITE_CORRUPT" | "SQLITE_NOTADB":
                return StoreError("record_damaged", path=path)
            case _:
                return StoreError("record_unusable", path=path, detail=str(error))

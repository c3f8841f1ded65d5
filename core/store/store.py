"""The record of one profile: one file, opened by the engine alone."""

from pathlib import Path

from core.store.database import Database
from core.store.days import Days
from core.store.history import History
from core.store.journal import Journal
from core.store.preferences import StoredPreferences
from core.store.projects import Projects
from core.store.view import View


class Store:
    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            StoreError: it is damaged, cannot be written, or is newer than this program.
        """
        self.database = Database(path)
        self.preferences = StoredPreferences(self.database)
        self.projects = Projects(self.database)
        self.days = Days(self.database)
        self.journal = Journal(self.database, self.days)
        self.journal.close_unfinished()
        self.history = History(self.database, self.journal)

    def view(self) -> View:
        """A view of the record as it is now, for use on another thread.

        Raises:
            StoreError: it cannot be read.
        """
        with self.database.errors_as_data():
            return View(self.database.path, self.journal)

    def close(self) -> None:
        """Write pending entries, then close.

        Raises:
            StoreError: it cannot be written.
        """
        try:
            self.journal.flush()
        finally:
            self.database.close()

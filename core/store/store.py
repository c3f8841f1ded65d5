"""The record of one profile: one file, opened by the engine alone."""

from pathlib import Path

from core.store.database import Database
from core.store.days import Days
from core.store.history import History
from core.store.journal import Journal
from core.store.preferences import StoredPreferences
from core.store.projects import Projects
from core.store.queries.view import View


class Store:
    """Opens the file, or creates it. Every method can raise StoreError."""

    def __init__(self, path: Path) -> None:
        self.database = Database(path)
        self.preferences = StoredPreferences(self.database)
        self.projects = Projects(self.database)
        self.days = Days(self.database)
        self.journal = Journal(self.database, self.days)
        self.journal.close_unfinished()
        self.history = History(self.database, self.journal)

    def view(self) -> View:
        """A view of the record as it is now, for use on another thread."""
        with self.database.errors_as_data():
            return View(self.database.path, self.journal)

    def close(self) -> None:
        """Write pending entries, then close."""
        try:
            self.journal.flush()
        finally:
            self.database.close()

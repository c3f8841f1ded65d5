"""Stores preferences that differ from the default: JSON by name."""

from typing import Any

import msgspec

from core.api.errors import UsageError
from core.api.preferences.preferences import DEFAULTS, Values, preference_named, restored
from core.store.database import Database


class StoredPreferences:
    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> Values:
        """All preferences with their values; stored names that this version does not know are left out."""
        values = dict(DEFAULTS)
        for row in self._database.rows("SELECT name, value FROM preference"):
            try:
                values[row["name"]] = restored(row["name"], _decoded(row["value"]))
            except UsageError:
                continue
        return values

    def set(self, name: str, value: object) -> None:
        """Raises UsageError for an unknown name or a wrong value, StoreError if it cannot be written."""
        checked = preference_named(name).check(value)
        if checked == DEFAULTS.get(name):
            self.reset(name)
            return
        with self._database.transaction() as connection:
            text = msgspec.json.encode(checked).decode()
            connection.execute("INSERT OR REPLACE INTO preference VALUES (?, ?)", (name, text))

    def reset(self, name: str) -> None:
        """Raises UsageError for an unknown name, StoreError if it cannot be written."""
        preference_named(name)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM preference WHERE name = ?", (name,))


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None

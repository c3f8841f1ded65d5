"""What the volunteer chose, where it differs from the default."""

from core.api.errors import UsageError
from core.api.preferences.preferences import PREFERENCES, preference_named
from core.store.database import Database


class StoredPreferences:
    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> dict[str, int]:
        """Every preference with its value; what this program does not allow counts as not chosen."""
        chosen = {row["name"]: row["value"] for row in self._database.rows("SELECT name, value FROM preference")}
        values = {name: preference.default for name, preference in PREFERENCES.items()}
        return values | {name: value for name, value in chosen.items() if _is_allowed(name, value)}

    def set(self, name: str, value: object) -> None:
        """Raises UsageError for an unknown name or a value out of range, StoreError if it cannot be written."""
        number = preference_named(name).check(value)
        if name in PREFERENCES and number == PREFERENCES[name].default:
            return self.reset(name)
        with self._database.transaction() as connection:
            connection.execute("INSERT OR REPLACE INTO preference VALUES (?, ?)", (name, number))
        return None

    def reset(self, name: str) -> None:
        """Raises UsageError for an unknown name, StoreError if it cannot be written."""
        preference_named(name)
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM preference WHERE name = ?", (name,))


def _is_allowed(name: str, value: object) -> bool:
    try:
        preference_named(name).check(value)
    except UsageError:
        return False
    return True

"""What the volunteer chose, with real SQLite files."""

import pytest

from core.api.errors import UsageError
from core.api.preferences.preferences import DEFAULTS
from core.api.preferences.week_text import NEVER
from core.store.store import Store


class TestPreferences:
    def test_only_what_differs_from_its_default_is_stored(self, store: Store) -> None:
        store.preferences.set("threads", 2)
        assert store.preferences.load()["threads"] == 2
        store.preferences.set("threads", DEFAULTS["threads"])
        assert store.database.rows("SELECT * FROM preference") == []

    def test_a_reset_brings_the_default_back(self, store: Store) -> None:
        store.preferences.set("threads", 2)
        store.preferences.reset("threads")
        assert store.preferences.load() == DEFAULTS

    def test_every_type_is_kept(self, store: Store) -> None:
        chosen = {"metered": True, "currency": "EUR", "display_name": "Ann", "programs": ("steam",), "week": NEVER}
        for name, value in chosen.items():
            store.preferences.set(name, value)
        assert store.preferences.load().items() >= chosen.items()

    def test_a_week_that_cannot_be_read_contributes_at_no_time(self, store: Store) -> None:
        with store.database.transaction() as connection:
            connection.execute("INSERT INTO preference VALUES ('week', 'nonsense')")
        assert store.preferences.load()["week"] == NEVER

    @pytest.mark.parametrize(
        ("name", "value"), [("threads", -1), ("threads", 1 << 70), ("no_such", 1), ("threads", "2")]
    )
    def test_a_wrong_value_is_refused(self, store: Store, name: str, value: object) -> None:
        with pytest.raises(UsageError):
            store.preferences.set(name, value)
        assert store.database.rows("SELECT * FROM preference") == []

    def test_a_stored_value_that_is_not_allowed_any_more_counts_as_default(self, store: Store) -> None:
        with store.database.transaction() as connection:
            connection.executemany(
                "INSERT INTO preference VALUES (?, ?)", [("threads", "9999"), ("metered", "no JSON"), ("gone", "1")]
            )
        assert store.preferences.load() == DEFAULTS

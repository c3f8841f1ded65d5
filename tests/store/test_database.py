"""The file itself: new, damaged, of a newer program, on a full disk."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.api.snapshot import Traffic
from core.client.installation import core_environment
from core.store.database import Database, StoreError
from core.store.migrations import MIGRATIONS
from core.store.store import Store
from tests.store.given import NOON, counters


class TestFile:
    def test_a_new_file_has_the_newest_schema_in_wal_mode_and_strict_tables(self, store: Store) -> None:
        assert store.database.rows("PRAGMA user_version")[0][0] == len(MIGRATIONS)
        assert store.database.rows("PRAGMA journal_mode")[0][0] == "wal"
        own = "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND NOT strict"
        assert [r["name"] for r in store.database.rows(own) if not r["name"].startswith("sqlite_")] == []

    def test_a_file_of_a_newer_program_is_refused_and_left_as_it_is(self, path: Path) -> None:
        Store(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 999")
        connection.close()
        with pytest.raises(StoreError, match="record_newer"):
            Store(path)
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)
        connection.close()

    def test_before_a_migration_the_file_is_kept_as_the_older_program_left_it(self, path: Path) -> None:
        connection = sqlite3.connect(path, isolation_level=None)
        for number, script in enumerate(MIGRATIONS[:-1], 1):
            connection.executescript(f"BEGIN; {script}; PRAGMA user_version = {number}; COMMIT;")
        connection.execute("INSERT INTO preference VALUES ('threads', 3)")
        connection.close()
        store = Store(path)
        assert store.preferences.load()["threads"] == 3
        store.close()
        kept = [entry for entry in path.parent.iterdir() if ".version-" in entry.name]
        assert [entry.name for entry in kept] == [f"{path.name}.version-{len(MIGRATIONS) - 1}"]
        connection = sqlite3.connect(kept[0])
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) - 1,)
        assert connection.execute("SELECT value FROM preference").fetchall() == [(3,)]
        connection.close()
        Store(path).close()  # nothing to migrate: no further copy
        assert len([entry for entry in path.parent.iterdir() if ".version-" in entry.name]) == 1

    @pytest.mark.parametrize("offset", [0, 4096])
    def test_a_damaged_file_is_refused_with_what_to_do_and_left_as_it_is(self, path: Path, offset: int) -> None:
        Store(path).close()
        content = bytearray(path.read_bytes())
        content[offset : offset + 2000] = b"\xa5" * 2000
        path.write_bytes(content)
        with pytest.raises(StoreError, match="record_damaged"):
            Store(path)
        assert path.read_bytes() == content

    def test_a_file_that_cannot_be_written_is_refused_at_the_start(self, tmp_path: Path) -> None:
        # In a process without root's right to write everywhere.
        folder = tmp_path / "profile"
        folder.mkdir()
        Store(folder / "idlehive.sqlite").close()
        (folder / "idlehive.sqlite").chmod(0o444)
        folder.chmod(0o555)
        program = (
            "import os, sys\nfrom pathlib import Path\nfrom core.store.store import Store\n"
            "from core.store.database import StoreError\n"
            "if os.getuid() == 0: os.setresuid(65534, 65534, 65534)\n"
            "try: Store(Path(sys.argv[1]))\nexcept StoreError as error: print(error)"
        )
        for parent in (folder, *list(folder.parents)[:-2]):
            parent.chmod(parent.stat().st_mode | 0o055)
        done = subprocess.run(
            [sys.executable, "-c", program, str(folder / "idlehive.sqlite")],
            env=core_environment(), capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
        folder.chmod(0o755)
        assert done.stdout.startswith(("record_read_only", "record_not_opened")), done.stderr
        assert done.stdout.count("\n") == 1

    def test_a_failed_transaction_leaves_nothing_behind(self, path: Path) -> None:
        database = Database(path)
        with pytest.raises(StoreError):
            insert_twice(database)
        assert database.rows("SELECT * FROM setting") == []
        database.close()


def insert_twice(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute("INSERT INTO setting VALUES ('a', '1')")
        connection.execute("INSERT INTO no_such_table VALUES (1)")


class TestFullDisk:
    def test_what_cannot_be_written_waits_and_is_written_once_there_is_room(self, store: Store) -> None:
        fill(store)
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(100), Traffic(), NOON)
        store.journal.setting("intent", "{}" + " " * 100_000)
        with pytest.raises(StoreError, match="disk_full"):
            store.journal.flush()
        store.journal.add(counters(120), Traffic(), NOON + 1)
        assert [g.samples for g in store.history.contributions()] == [120]
        assert store.journal.read_setting("intent") is not None
        make_room(store)
        store.journal.flush()
        assert not store.journal.pending
        assert [g.samples for g in store.history.contributions()] == [120]

    def test_a_choice_that_cannot_be_written_is_refused(self, store: Store) -> None:
        fill(store)
        with pytest.raises(StoreError, match="disk_full"):
            store.projects.put("p", "x" * 100_000, None, NOON)
        make_room(store)
        assert store.projects.all() == []


def fill(store: Store) -> None:
    pages = store.database.rows("PRAGMA page_count")[0][0]
    store.database.rows(f"PRAGMA max_page_count = {pages}")


def make_room(store: Store) -> None:
    store.database.rows("PRAGMA max_page_count = 100000")

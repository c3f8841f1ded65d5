"""The record on disk, with real SQLite files."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.client import core_environment
from core.api.errors import UsageError
from core.api.manifest import Manifest
from core.api.manifest_reading import parse
from core.api.preferences import PREFERENCES
from core.api.projects import CurvePoint
from core.api.session import Counters, EpochDone
from core.api.snapshot import Today, Traffic
from core.store.database import Database, StoreError
from core.store.migrations import MIGRATIONS
from core.store.store import Store
from tests.fakes.scripted_host import manifest

HOUR = 3600.0
NOON = datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "idlehive.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def counters(samples: int, joules: float | None = None) -> Counters:
    return Counters(
        samples=samples, rounds=samples // 10, seconds=samples / 2, cpu_seconds=1.5 * samples, joules=joules
    )


class TestContributions:
    def test_totals_of_a_session_become_increments_of_the_hours_in_which_they_came(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(100), Traffic(uploaded=7), NOON + 10)
        store.journal.add(counters(150), Traffic(uploaded=9), NOON + HOUR - 1)
        store.journal.flush()
        store.journal.add(counters(180), Traffic(uploaded=20), NOON + HOUR)
        given = store.history.contributions()
        assert [(g.session, g.hour, g.samples, g.seconds, g.uploaded) for g in given] == [
            (1, NOON, 150, 75.0, 9),
            (1, NOON + HOUR, 30, 15.0, 11),
        ]

    def test_what_waits_and_what_is_on_disk_count_once_each(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(100), Traffic(), NOON)
        store.journal.flush()
        store.journal.add(counters(130), Traffic(), NOON + 1)
        assert [g.samples for g in store.history.contributions()] == [130]
        assert store.history.given_to("p") == (130, 65.0)
        store.journal.flush()
        assert [g.samples for g in store.history.contributions()] == [130]
        assert store.history.given_to("p") == (130, 65.0)

    def test_traffic_of_a_period_leaves_practice_out(self, store: Store) -> None:
        store.projects.put("home", "builtin", None, NOON)
        store.projects.put("far", "http://far/manifest.json", None, NOON)
        for project, hour in (("far", NOON - HOUR), ("far", NOON), ("home", NOON)):
            store.journal.begin(project, "run", hour)
            store.journal.add(counters(1), Traffic(uploaded=5, downloaded=7), hour)
            store.journal.flush()
        store.journal.add(counters(1), Traffic(uploaded=6, downloaded=7), NOON)
        store.journal.begin("far", "run", NOON + HOUR)
        store.journal.add(counters(1), Traffic(uploaded=100), NOON + HOUR)
        assert store.history.traffic_since(NOON) == 12 + 100
        assert store.history.traffic_since(NOON - HOUR) == 24 + 100

    def test_a_total_that_shrinks_gives_nothing_and_takes_nothing(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(100), Traffic(downloaded=50), NOON)
        store.journal.add(counters(40), Traffic(downloaded=10), NOON + 1)
        assert [(g.samples, g.downloaded) for g in store.history.contributions()] == [(100, 50)]

    def test_energy_is_unknown_until_it_was_measured_and_adds_up_from_then_on(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(10), Traffic(), NOON)
        store.journal.flush()
        assert store.history.contributions()[0].joules is None
        store.journal.add(counters(20, joules=5.0), Traffic(), NOON + 1)
        store.journal.flush()
        store.journal.add(counters(30, joules=7.0), Traffic(), NOON + 2)
        store.journal.flush()
        assert store.history.contributions()[0].joules == 7.0

    def test_an_estimate_stands_in_where_no_counter_tells_of_the_processor(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        store.journal.add(Counters(cpu_seconds=10.0), Traffic(), NOON, watts=4.0)
        store.journal.add(Counters(cpu_seconds=30.0, joules=9.0, processor_joules=9.0), Traffic(), NOON, watts=4.0)
        [given] = store.history.contributions()
        assert (given.estimated_joules, given.joules, given.processor_joules) == (40.0, 9.0, 9.0)

    def test_a_killed_engine_leaves_a_session_that_ended_when_it_was_last_seen(self, path: Path) -> None:
        killed = Store(path)
        killed.journal.begin("p", "run", NOON)
        killed.journal.add(counters(5), Traffic(), NOON + 40)
        killed.journal.flush()
        with sqlite3.connect(path) as other:
            assert other.execute("SELECT ended_at FROM session").fetchone() == (None,)
        other.close()
        after = Store(path)
        [row] = after.database.rows("SELECT ended_at, end_reason FROM session")
        assert tuple(row) == (NOON + 40, "the engine ended")
        after.close()
        killed.close()

    def test_seconds_without_contributing_are_kept_by_hour_and_reason(self, store: Store) -> None:
        store.journal.idle("in_use", 30.0, NOON + HOUR + 10)
        store.journal.idle("in_use", 5.0, NOON + HOUR + 15)
        store.journal.flush()
        store.journal.idle("on_battery", 1.0, NOON + HOUR + 16)
        store.journal.flush()
        rows = store.database.rows("SELECT hour, reason, seconds FROM idle ORDER BY hour, reason")
        assert [tuple(row) for row in rows] == [
            (NOON, "in_use", 20.0), (NOON + HOUR, "in_use", 15.0), (NOON + HOUR, "on_battery", 1.0)
        ]  # fmt: skip

    def test_the_history_can_be_read_page_by_page(self, store: Store) -> None:
        for number in range(5):
            store.journal.begin("p", "run", NOON + number)
            store.journal.add(counters(10), Traffic(), NOON + number % 2 * HOUR)
            if number < 3:
                store.journal.flush()
        pages, after = [], None
        while page := store.history.contributions(after=after, most=2):
            pages += page
            after = page[-1].hour, page[-1].session
        assert pages == store.history.contributions()
        assert len(pages) == 5

    def test_sessions_are_counted_on_after_a_restart(self, path: Path) -> None:
        for expected in (1, 2):
            store = Store(path)
            store.journal.begin("p", "run", NOON)
            store.journal.add(counters(1), Traffic(), NOON)
            store.journal.end("paused", NOON + 1)
            store.close()
            assert [g.session for g in Store(path).history.contributions()][-1] == expected

    def test_history_can_begin_at_a_time(self, store: Store) -> None:
        store.journal.begin("p", "run", NOON)
        for hour in range(3):
            store.journal.add(counters(10 * (hour + 1)), Traffic(), NOON + hour * HOUR)
        assert [g.hour for g in store.history.contributions(NOON + HOUR)] == [NOON + HOUR, NOON + 2 * HOUR]

    def test_today_is_what_was_given_since_local_midnight(
        self, store: Store, monkeypatch: pytest.MonkeyPatch, local_time: None
    ) -> None:
        midnight = datetime(2026, 3, 14, 5, tzinfo=UTC).timestamp()
        store.journal.begin("p", "run", midnight - HOUR)
        store.journal.add(counters(100), Traffic(), midnight - 1)
        store.journal.add(counters(130), Traffic(), midnight + 1)
        assert store.history.today(midnight + 2) == Today(samples=30, seconds=15.0)
        assert store.history.today(midnight - 1).samples == 130


@pytest.fixture
def local_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five hours behind UTC."""
    monkeypatch.setenv("TZ", "EST5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


class TestEpochs:
    def test_the_curve_is_kept_by_run_and_seen_before_it_is_written(self, store: Store) -> None:
        store.journal.begin("p", "first", NOON)
        store.journal.epoch(EpochDone(1, 4.0, 20, 3, NOON))
        store.journal.flush()
        store.journal.epoch(EpochDone(2, None, 0, 2, NOON))
        assert store.history.curve("p", "first") == {
            1: CurvePoint(1, 4.0, None, 20, 3, NOON),
            2: CurvePoint(2, None, None, 0, 2, NOON),
        }
        assert store.history.curve("p", "second") == {}

    def test_the_run_may_become_known_after_the_session_began(self, store: Store) -> None:
        store.journal.begin("p", "", NOON)
        store.journal.name_run("run")
        store.journal.epoch(EpochDone(1, 4.0, 20, 3, NOON))
        assert list(store.history.curve("p", "run")) == [1]


class TestProjects:
    def test_members_come_by_rank_before_what_is_only_listed(self, store: Store) -> None:
        description = parse_with("listed"), parse_with("second"), parse_with("first")
        for number, project in enumerate(description):
            store.projects.put(project.id, "http://localhost/m", project, NOON + number)
        store.projects.join("first", NOON)
        store.projects.join("second", NOON)
        store.projects.join("first", NOON + 1)
        found = store.projects.all()
        assert [(p.id, p.joined_at, p.rank) for p in found] == [
            ("first", NOON, 1),
            ("second", NOON, 2),
            ("listed", None, 0),
        ]
        assert found[0].manifest == description[2]

    def test_leaving_keeps_the_project_and_its_history(self, store: Store) -> None:
        store.projects.put("p", "builtin", None, NOON)
        store.projects.join("p", NOON)
        store.journal.begin("p", "run", NOON)
        store.journal.add(counters(10), Traffic(), NOON)
        store.projects.leave("p")
        assert [(p.id, p.joined_at) for p in store.projects.all()] == [("p", None)]
        assert store.history.given_to("p")[0] == 10

    def test_a_manifest_is_renewed_and_one_that_cannot_be_had_does_not_erase_it(self, store: Store) -> None:
        old, new = parse_with("p"), parse_with("p", name="New")
        store.projects.put("p", "a", old, NOON)
        store.projects.put("p", "a", None, NOON)
        assert store.projects.all()[0].manifest == old
        store.projects.put("p", "a", new, NOON)
        assert store.projects.all()[0].manifest == new

    def test_a_stored_manifest_that_is_no_longer_understood_counts_as_unknown(self, store: Store) -> None:
        with store.database.transaction() as connection:
            connection.execute("INSERT INTO project VALUES ('p', 's', '{\"format\": 1}', 0)")
        assert store.projects.all()[0].manifest is None

    def test_where_a_secret_is_kept_is_remembered_with_the_membership(self, store: Store) -> None:
        store.projects.put("p", "s", None, NOON)
        store.projects.join("p", NOON)
        store.projects.keep_secret("p", "file")
        assert store.projects.all()[0].secret == "file"
        store.projects.leave("p")
        assert store.projects.all()[0].secret is None


def parse_with(id: str, **changes: str) -> Manifest:  # noqa: A002 - the project's own word
    return parse(json.dumps(manifest(id=id, **changes)).encode(), "http://localhost/m")


class TestPreferences:
    def test_only_what_differs_from_its_default_is_stored(self, store: Store) -> None:
        store.preferences.set("threads", 2)
        assert store.preferences.load()["threads"] == 2
        store.preferences.set("threads", PREFERENCES["threads"].default)
        assert store.database.rows("SELECT * FROM preference") == []

    def test_a_reset_brings_the_default_back(self, store: Store) -> None:
        store.preferences.set("threads", 2)
        store.preferences.reset("threads")
        assert store.preferences.load() == {name: p.default for name, p in PREFERENCES.items()}

    @pytest.mark.parametrize(
        ("name", "value"), [("threads", -1), ("threads", 1 << 70), ("no_such", 1), ("threads", "2")]
    )
    def test_a_wrong_value_is_refused(self, store: Store, name: str, value: object) -> None:
        with pytest.raises(UsageError):
            store.preferences.set(name, value)
        assert store.database.rows("SELECT * FROM preference") == []

    def test_a_stored_value_that_is_not_allowed_any_more_counts_as_default(self, store: Store) -> None:
        with store.database.transaction() as connection:
            connection.executemany("INSERT INTO preference VALUES (?, ?)", [("threads", 9999), ("gone", 1)])
        assert store.preferences.load() == {name: p.default for name, p in PREFERENCES.items()}


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
        with pytest.raises(StoreError, match=r"was written by a newer Idlehive; update Idlehive to open it\."):
            Store(path)
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA user_version").fetchone() == (999,)
        connection.close()

    @pytest.mark.parametrize("offset", [0, 4096])
    def test_a_damaged_file_is_refused_with_what_to_do_and_left_as_it_is(self, path: Path, offset: int) -> None:
        Store(path).close()
        content = bytearray(path.read_bytes())
        content[offset : offset + 2000] = b"\xa5" * 2000
        path.write_bytes(content)
        with pytest.raises(StoreError, match=r"is damaged\. Move it away"):
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
        assert "check" in done.stdout, done.stderr
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
        with pytest.raises(StoreError, match=r"The disk is full: .* cannot grow\. Free some space\."):
            store.journal.flush()
        store.journal.add(counters(120), Traffic(), NOON + 1)
        assert [g.samples for g in store.history.contributions()] == [120]
        assert store.journal.read_setting("intent") is not None
        make_room(store)
        store.journal.flush()
        assert not store.journal.is_waiting
        assert [g.samples for g in store.history.contributions()] == [120]

    def test_a_choice_that_cannot_be_written_is_refused(self, store: Store) -> None:
        fill(store)
        with pytest.raises(StoreError, match="The disk is full"):
            store.projects.put("p", "x" * 100_000, None, NOON)
        make_room(store)
        assert store.projects.all() == []


def fill(store: Store) -> None:
    pages = store.database.rows("PRAGMA page_count")[0][0]
    store.database.rows(f"PRAGMA max_page_count = {pages}")


def make_room(store: Store) -> None:
    store.database.rows("PRAGMA max_page_count = 100000")

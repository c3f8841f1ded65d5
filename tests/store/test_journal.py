"""What sessions gave, and the epochs they saw, with real SQLite files."""

import sqlite3
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from core.api.message import Message
from core.api.project.projects import CurvePoint
from core.api.session import Counters, EpochDone
from core.api.snapshot import Today, Traffic
from core.store.store import Store
from tests.store.given import NOON, counters

HOUR = 3600.0


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
        [row] = after.database.rows("SELECT ended_at, ending FROM session")
        assert tuple(row) == (NOON + 40, "engine_killed")
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
            store.journal.end(Message("paused"), NOON + 1)
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

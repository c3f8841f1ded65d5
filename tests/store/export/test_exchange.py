"""Exports carried from record to record, with real files."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.api.errors import UsageError, WorldError
from core.api.message import Message
from core.api.session import Counters, EpochDone
from core.api.snapshot import Traffic
from core.store.export import exchange
from core.store.export.history_file import File, as_json
from core.store.store import Store

NOON = 1_773_489_600.0


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Store]:
    """Two sessions, one of which still runs, with an epoch and a reason against contributing."""
    store = Store(tmp_path / "full.sqlite")
    store.journal.begin("p", "run", NOON)
    store.journal.add(Counters(samples=10, accepted=8, seconds=5.0, flops=1e12, data_up=3), Traffic(7, 9), NOON)
    store.journal.add(Counters(samples=30, accepted=8, seconds=15.0, flops=3e12), Traffic(8, 9), NOON + 3600)
    store.journal.epoch(EpochDone(4, 2.5, 8, 3, NOON))
    store.journal.end(Message("paused"), NOON + 3700)
    store.journal.idle("in_use", 30.0, NOON + 7200)
    store.journal.begin("q", "other", NOON + 7200)
    store.journal.add(Counters(samples=5, accepted=0, seconds=2.0), Traffic(), NOON + 7200)
    store.journal.flush()
    yield store
    store.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "empty.sqlite")
    yield store
    store.close()


def export(store: Store, path: Path, own: str = "full") -> File:
    with closing(store.view()) as view:
        file = exchange.collect(view, own, NOON)
    path.write_bytes(as_json(file))
    return file


def take(store: Store, path: Path, own: str) -> int:
    return sum(exchange.import_into(store.journal, exchange.read(path), own))


def tables(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """Everything but the sessions' numbers."""
    return {
        table: sorted(tuple(row)[1:] for row in store.database.rows(f"SELECT * FROM {table}"))  # noqa: S608
        for table in ("session", "idle", "epoch")
    } | {"given": [tuple(row) for row in store.database.rows("SELECT hour, samples, flops FROM contribution")]}


def test_what_is_read_is_what_was_written(full: Store, tmp_path: Path) -> None:
    written = export(full, tmp_path / "f.json")
    assert exchange.read(tmp_path / "f.json") == written


def test_an_import_twice_or_three_times_is_an_import_once(full: Store, empty: Store, tmp_path: Path) -> None:
    export(full, tmp_path / "f.json")
    assert take(empty, tmp_path / "f.json", "empty") == 3
    once = tables(empty)
    assert [take(empty, tmp_path / "f.json", "empty") for _ in range(2)] == [0, 0]
    assert tables(empty) == once
    assert [entry.samples for entry in empty.history.contributions()] == [10, 20, 5]


def test_an_own_export_changes_nothing_and_brings_back_what_was_deleted(full: Store, tmp_path: Path) -> None:
    before = tables(full)
    export(full, tmp_path / "f.json")
    assert take(full, tmp_path / "f.json", "full") == 0
    assert tables(full) == before
    full.journal.forget()
    assert full.history.contributions() == []
    assert take(full, tmp_path / "f.json", "full") == 3
    assert [entry.samples for entry in full.history.contributions()] == [10, 20, 5]
    assert tables(full)["epoch"] == before["epoch"]


def test_a_later_export_of_a_running_session_completes_the_earlier_one(
    full: Store, empty: Store, tmp_path: Path
) -> None:
    export(full, tmp_path / "early.json")
    full.journal.add(Counters(samples=50, seconds=9.0), Traffic(), NOON + 7260)
    full.journal.flush()
    export(full, tmp_path / "late.json")
    for name in ("early", "late", "early"):
        take(empty, tmp_path / f"{name}.json", "empty")
    assert [entry.samples for entry in empty.history.contributions()] == [10, 20, 50]


def test_computers_add_up_and_the_own_line_is_not_charged(full: Store, empty: Store, tmp_path: Path) -> None:
    empty.journal.begin("p", "run", NOON)
    empty.journal.add(Counters(samples=1, accepted=1), Traffic(uploaded=100), NOON)
    empty.journal.epoch(EpochDone(4, 2.5, 1, 3, NOON))
    empty.journal.idle("in_use", 4.0, NOON + 7200)
    empty.journal.end(Message("done"), NOON)
    empty.journal.flush()
    export(full, tmp_path / "f.json")
    take(empty, tmp_path / "f.json", "empty")
    assert sum(entry.samples for entry in empty.history.contributions()) == 36
    assert empty.history.curve("p", "run")[4].own_samples == 9
    assert empty.history.traffic_since(NOON) == 100
    assert empty.database.rows("SELECT sum(seconds) FROM idle")[0][0] == 34.0


def test_a_session_that_begins_after_an_import_has_a_number_of_its_own(
    full: Store, empty: Store, tmp_path: Path
) -> None:
    export(full, tmp_path / "f.json")
    empty.journal.begin("p", "run", NOON)
    take(empty, tmp_path / "f.json", "empty")
    empty.journal.add(Counters(samples=1), Traffic(), NOON)
    empty.journal.end(Message("done"), NOON)
    empty.journal.begin("p", "run", NOON + 1)
    empty.journal.add(Counters(samples=2), Traffic(), NOON)
    empty.journal.flush()
    assert sorted(entry.samples for entry in empty.history.contributions()) == [1, 2, 5, 10, 20]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"samples": 10', '"samples": -10'),
        lambda text: text.replace('"samples": 10', '"samples": 1e400'),
        lambda text: text.replace('"seconds": 5.0', '"seconds": NaN'),
        lambda text: text.replace(str(int(NOON)), str(int(NOON) + 1)),
        lambda text: text.replace("idlehive-history", "somebody-elses"),
        lambda text: text.replace('"version": 1', '"version": 2'),
        lambda text: text.replace('"origin"', '"from"'),
        lambda text: "",
        lambda text: "[" * 100_000,
        lambda text: "\xff\xfe",
        lambda text: json.dumps({"project": "p"}),
    ],
)
def test_a_damaged_file_is_one_clear_sentence_and_changes_nothing(full: Store, tmp_path: Path, damage: object) -> None:
    path = tmp_path / "f.json"
    export(full, path)
    damaged = damage(path.read_text())  # type: ignore[operator]
    assert damaged != path.read_text()
    path.write_text(damaged, encoding="latin-1")
    before = tables(full)
    with pytest.raises(UsageError, match="not_a_history") as raised:
        take(full, path, "full")
    assert "\n" not in str(raised.value)
    assert tables(full) == before


def test_a_file_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WorldError, match=r"^file_unreadable path=.*nowhere\.json detail=No such file or directory$"):
        exchange.read(tmp_path / "nowhere.json")

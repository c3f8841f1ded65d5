"""The sums of days that are kept: always those of the hours, whatever is written and wherever the computer goes."""

from contextlib import closing
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.api.message import Message
from core.api.record.record import GetOverview
from core.api.record.totals import GIVEN, UNCERTAIN
from core.api.session import Counters
from core.api.snapshot import Traffic
from core.store.database import StoreError
from core.store.export import exchange
from core.store.export.history_file import as_json
from core.store.store import Store
from tests.store.queries.test_overview import NOON, ZONES, look

HOUR, DAY = 3600.0, 86_400.0
Key = tuple[int, str]


def kept(store: Store) -> dict[Key, dict[str, Any]]:
    """Table `day`."""
    names = ", ".join((*GIVEN, "counted"))
    rows = store.database.rows(f"SELECT day, project, {names} FROM day")  # noqa: S608 - names from the code
    return {(row["day"], row["project"]): {name: row[name] for name in (*GIVEN, "counted")} for row in rows}


def summed(store: Store, zone: tzinfo) -> dict[Key, dict[str, Any]]:
    """The same from the hours on disk, with Python's own calendar."""
    found: dict[Key, dict[str, Any]] = {}
    query = "SELECT * FROM contribution JOIN session ON session.id = contribution.session"
    for row in store.database.rows(query):
        day = (
            datetime.fromtimestamp(row["hour"], zone).date().toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal()
        )
        sums = found.setdefault((day, row["project"]), {**dict.fromkeys(GIVEN, 0), **dict.fromkeys(UNCERTAIN)})
        for name in GIVEN:
            if row[name] is not None:
                sums[name] = (sums[name] or 0) + row[name]
        more = row["samples"] if row["accepted"] is None else row["accepted"]
        sums["counted"] = sums.get("counted", 0) + more
    return found


def give(store: Store, project: str, at: float, seconds: int) -> None:
    """By a session whose figures say whether they can be told."""
    store.journal.begin(project, "run", at)
    joules, flops = (float(seconds), None) if seconds % 2 else (None, 2.0 * seconds)
    given_ = Counters(samples=2 * seconds, accepted=seconds, seconds=float(seconds), joules=joules, flops=flops)
    store.journal.add(given_, Traffic(uploaded=seconds), at)
    store.journal.end(Message("done"), at + seconds)


moments = st.integers(0, 400 * 48).map(lambda halves: NOON - halves * 1801.0)
gives = st.tuples(st.just("give"), st.sampled_from("abc"), moments, st.integers(1, 3000))
steps = st.lists(
    gives
    | gives
    | st.tuples(st.just("move"), st.sampled_from(ZONES))
    | st.tuples(st.sampled_from(("flush", "carry over", "forget", "open again"))),
    max_size=25,
)


@given(steps=steps)
@settings(max_examples=150)
def test_days_are_the_sums_of_their_hours_whatever_happens(steps: list[tuple[Any, ...]]) -> None:
    zone: tzinfo = UTC
    with TemporaryDirectory() as folder:
        path, file = Path(folder) / "x.sqlite", Path(folder) / "x.json"
        store = Store(path)
        for step in steps:
            match step:
                case ("give", project, at, seconds):
                    give(store, project, at, seconds)
                case ("move", name):
                    zone = ZoneInfo(name)
                    store.days.set_zone(zone, NOON)
                case ("flush",):
                    store.journal.flush()
                case ("carry over",):
                    with closing(Store(Path(folder) / "other.sqlite")) as other:
                        give(other, "d", NOON - 40 * HOUR, 77)
                        other.journal.flush()
                        with closing(other.view()) as view:
                            file.write_bytes(as_json(exchange.collect(view, "other", NOON)))
                    for _ in exchange.import_into(store.journal, exchange.read(file), "own"):
                        assert kept(store) == summed(store, zone)
                case ("forget",):
                    store.journal.forget()
                case ("open again",):
                    store.close()
                    store = Store(path)
            assert kept(store) == summed(store, zone)
        store.close()


@given(gifts=st.lists(gives, max_size=20), zone=st.sampled_from(ZONES), since=st.integers(0, 400))
@settings(max_examples=60)
def test_the_same_is_told_in_a_zone_whose_days_are_not_kept(
    gifts: list[tuple[str, str, float, int]], zone: str, since: int
) -> None:
    with TemporaryDirectory() as folder, closing(Store(Path(folder) / "x.sqlite")) as store:
        for _, project, at, seconds in gifts:
            give(store, project, at, seconds)
            if seconds % 3:
                store.journal.flush()
        ask = GetOverview(since=NOON - since * DAY)
        from_hours = look(store, ask, zone)
        store.days.set_zone(ZoneInfo(zone), NOON)
        assert look(store, ask, zone) == from_hours


def test_an_hour_of_next_winter_belongs_to_its_winter_day(tmp_path: Path) -> None:
    zone = ZoneInfo("Europe/Berlin")
    with closing(Store(tmp_path / "x.sqlite")) as store:
        store.days.set_zone(zone, datetime(2026, 7, 1, tzinfo=UTC).timestamp())
        give(store, "p", datetime(2026, 12, 24, 22, 30, tzinfo=UTC).timestamp(), 60)
        store.journal.flush()
        assert kept(store) == summed(store, zone)


def test_days_that_cannot_be_written_stay_as_they_were(tmp_path: Path) -> None:
    with closing(Store(tmp_path / "x.sqlite")) as store:
        give(store, "p", NOON, 60)
        store.journal.flush()
        store.database.rows("PRAGMA query_only = ON")
        with pytest.raises(StoreError):
            store.days.set_zone(ZoneInfo("Asia/Kathmandu"), NOON)
        store.database.rows("PRAGMA query_only = OFF")
        assert kept(store) == summed(store, UTC)
        give(store, "p", NOON + HOUR, 60)
        store.journal.flush()
        assert kept(store) == summed(store, UTC)

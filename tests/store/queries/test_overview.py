"""The record summed up: every total is the sum of its parts, in every zone, on disk or waiting."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.api.message import Message
from core.api.record.record import GetHabits, GetOverview, GetSessions, Overview, ProjectGiven, Sums
from core.api.session import Counters
from core.api.snapshot import Traffic
from core.store.local_days import begin_of, midnight, number_of, offsets
from core.store.queries.habits import habits
from core.store.queries.overview import overview
from core.store.queries.sessions import sessions
from core.store.store import Store

NOON = datetime(2026, 3, 14, 12, tzinfo=UTC).timestamp()
HOUR, DAY = 3600.0, 86_400.0
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
         "America/Sao_Paulo", "America/Asuncion")  # fmt: skip
"""Among them half and quarter hours, clocks that change by half an hour or at midnight, and a day that never was."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "idle#hive?%.sqlite")
    yield opened
    opened.close()


def give(store: Store, project: str, at: float, seconds: float = 60.0, *, samples: int = 10, accepted: int = 8) -> None:
    store.journal.begin(project, "run", at)
    counters = Counters(samples=samples, accepted=accepted, seconds=seconds, epochs=1, flops=2.0 * samples)
    store.journal.add(counters, Traffic(uploaded=samples), at)
    store.journal.end(Message("done"), at + seconds)


def look(store: Store, ask: GetOverview, zone: str = "UTC", now: float = NOON) -> Overview:
    with closing(store.view()) as view:
        return overview(view, ask, ZoneInfo(zone), now, described)


def described(project: str, seconds: float, samples: int) -> ProjectGiven:
    return ProjectGiven(project, project.upper(), seconds, samples)


def plus(one: Sums, other: Sums) -> Sums:
    """Field by field; unknown only if both are."""
    values: dict[str, Any] = {
        name: None if one_value is None and other_value is None else (one_value or 0) + (other_value or 0)
        for name in Sums.__struct_fields__
        for one_value, other_value in [(getattr(one, name), getattr(other, name))]
    }
    return Sums(**values)


gifts = st.lists(
    st.tuples(
        st.sampled_from(("a", "b", "c", "d", "e", "f")),
        st.integers(0, 400 * 24).map(lambda hours: NOON - hours * 1801.0),
        st.integers(0, 3000),
        st.booleans(),
    ),
    max_size=30,
)


@given(gifts=gifts, zone=st.sampled_from(ZONES), cut=st.integers(0, 210), year=st.sampled_from((2025, 2026)))
@settings(max_examples=120)
def test_totals_of_any_range_are_the_sums_of_its_parts(
    gifts: list[tuple[str, float, int, bool]], zone: str, cut: int, year: int
) -> None:
    with TemporaryDirectory() as folder, closing(Store(Path(folder) / "x.sqlite")) as store:
        for project, at, seconds, on_disk in gifts:
            give(store, project, at, float(seconds), samples=seconds * 2, accepted=seconds)
            if on_disk:
                store.journal.flush()
        everything = look(store, GetOverview(year=year), zone)
        assert everything.sums.seconds == sum(seconds for *_, seconds, _ in gifts)
        parts = [
            look(store, GetOverview(until=NOON - cut * DAY), zone),
            look(store, GetOverview(since=NOON - cut * DAY), zone),
        ]
        before, after = parts
        if before.until > after.since:
            # The cut falls into a day, which belongs to both.
            after = look(store, GetOverview(since=before.until, until=max(before.until, NOON) + DAY), zone)
        assert plus(before.sums, after.sums) == everything.sums
        for shown in (everything, before, after):
            assert sum(bar.seconds for bar in shown.bars) == shown.sums.seconds
            assert sum(bar.samples for bar in shown.bars) == (shown.sums.accepted or 0)
            assert sum(project.seconds for project in shown.projects) == shown.sums.seconds
            if shown.bucket != "hour":
                mine = [datetime.fromtimestamp(at // HOUR * HOUR, ZoneInfo(zone)).date() for _, at, *_ in gifts]
                begins = {midnight(begin_of(number_of(day), shown.bucket), ZoneInfo(zone)) for day in mine}
                assert {bar.start for bar in shown.bars} <= begins
            with closing(store.view()) as view:
                given_when = habits(view, GetHabits(shown.since, shown.until), ZoneInfo(zone))
                assert sum(given_when.week) == shown.sums.seconds
        own_zone = ZoneInfo(zone)
        in_year = [g for g in gifts if local_year(g[1], own_zone) == year]
        assert sum(everything.calendar) == sum(seconds for *_, seconds, _ in in_year)
        with closing(store.view()) as view:
            listed = sessions(view, GetSessions(), str.upper)
        assert sum(session.sums.seconds for session in listed) == everything.sums.seconds
        assert len(listed) == everything.sessions == len(gifts)


def local_year(at: float, zone: ZoneInfo) -> int:
    """Of the day in which its UTC hour begins."""
    return datetime.fromtimestamp(at // HOUR * HOUR, zone).year


@given(zone=st.sampled_from(ZONES), hours=st.lists(st.integers(100_000, 600_000), min_size=1, max_size=40))
def test_local_time_in_sql_is_what_the_calendar_says(zone: str, hours: list[int]) -> None:
    moments = [hour * 3600 for hour in hours]
    local = offsets(ZoneInfo(zone), min(moments), max(moments))
    for moment in moments:
        there = datetime.fromtimestamp(moment, ZoneInfo(zone))
        assert midnight(local.day(moment), ZoneInfo(zone)) <= moment + HOUR
        assert local.at(moment) == there.utcoffset().total_seconds()  # type: ignore[union-attr]


def test_the_day_on_which_clocks_go_back_has_25_hours(store: Store) -> None:
    begin = datetime(2025, 10, 26, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
    for hour in range(-1, 26):
        give(store, "p", begin + hour * HOUR)
    shown = look(store, GetOverview(since=begin, until=begin + HOUR, year=2025), "Europe/Berlin")
    assert (shown.sessions, shown.sums.seconds, len(shown.bars)) == (25, 25 * 60.0, 25)
    assert shown.calendar[298] == 25 * 60.0


def test_a_journey_to_another_zone_moves_days_and_loses_nothing(store: Store) -> None:
    late = datetime(2026, 3, 13, 23, tzinfo=UTC).timestamp()
    give(store, "p", late)
    at_home, abroad = (look(store, GetOverview(), zone, NOON) for zone in ("UTC", "Asia/Tokyo"))
    assert at_home.sums == abroad.sums
    assert [at_home.calendar.index(60.0), abroad.calendar.index(60.0)] == [71, 72]


def test_a_clock_that_was_set_back_takes_nothing_away(store: Store) -> None:
    store.journal.begin("p", "run", NOON)
    store.journal.add(Counters(seconds=10.0), Traffic(), NOON)
    store.journal.add(Counters(seconds=15.0), Traffic(), NOON - 400 * DAY)
    store.journal.add(Counters(seconds=35.0), Traffic(), NOON + 5)
    assert look(store, GetOverview()).sums.seconds == 35.0


@pytest.mark.parametrize(("days", "bucket"), [(1, "hour"), (30, "day"), (365, "week"), (1800, "month")])
def test_bars_are_as_wide_as_the_range_asks_for(store: Store, days: int, bucket: str) -> None:
    for day in range(0, days, 3):
        give(store, "p", NOON - day * DAY)
    shown = look(store, GetOverview(since=NOON - (days - 1) * DAY))
    assert shown.bucket == bucket
    assert len({bar.start for bar in shown.bars}) <= 130


def test_further_projects_share_a_bar(store: Store) -> None:
    for number, project in enumerate("abcdefg"):
        give(store, project, NOON - 1, seconds=100.0 - number)
    shown = look(store, GetOverview(since=NOON - 10 * DAY))
    assert [project.name for project in shown.projects] == list("ABCDEFG")
    assert [(bar.project, bar.seconds) for bar in shown.bars] == [
        (0, 100), (1, 99), (2, 98), (3, 97), (-1, 96 + 95 + 94)
    ]  # fmt: skip


def test_sessions_are_found_by_project_and_ending_and_page_by_page(store: Store) -> None:
    for number in range(450):
        give(store, "pq"[number % 2], NOON - number * HOUR)
    store.journal.begin("p", "run", NOON + 1)
    with closing(store.view()) as view:
        first = sessions(view, GetSessions(), str)
        assert (len(first), first[0].ending, first[1].ending) == (200, None, Message("done"))
        second = sessions(view, GetSessions(before=first[-1].started_at), str)
        third = sessions(view, GetSessions(before=second[-1].started_at), str)
        assert [len(second), len(third)] == [200, 51]
        assert len(sessions(view, GetSessions(project="p", since=NOON - 10.5 * HOUR), str)) == 7
        assert sessions(view, GetSessions(ending="paused"), str) == []


def test_what_stood_in_the_way_is_summed_up_by_reason(store: Store) -> None:
    store.journal.idle("in_use", 30.0, NOON)
    store.journal.flush()
    store.journal.idle("in_use", 30.0, NOON)
    store.journal.idle("on_battery", 100.0, NOON)
    give(store, "p", NOON - HOUR)
    store.journal.flush()
    with closing(store.view()) as view:
        found = habits(view, GetHabits(), ZoneInfo("UTC"))
    assert found.idle == {"on_battery": 100.0, "in_use": 60.0}
    assert found.endings == {"done": 1}


def test_round_numbers_are_told_with_their_day_and_the_next_with_a_guess(store: Store) -> None:
    for day in range(20):
        give(store, "p", NOON - (19 - day) * DAY, seconds=1800.0, accepted=100)
    told = [msgspec.to_builtins(milestone) for milestone in look(store, GetOverview()).milestones]
    today = datetime(2026, 3, 14, tzinfo=UTC).timestamp()
    assert [(m["kind"], m["amount"], (today - m["at"]) / DAY) for m in told if m["reached"]] == [
        ("epochs", 1, 19), ("seconds", 3600, 18), ("samples", 1000, 10), ("epochs", 10, 10), ("seconds", 36_000, 0)
    ]  # fmt: skip
    coming = {m["kind"]: (m["amount"], (m["at"] - today) / DAY) for m in told if not m["reached"]}
    assert coming == {"seconds": (360_000, 180), "samples": (10_000, 80), "epochs": (100, 80)}


@pytest.mark.parametrize(("days", "seconds"), [(1, 240.0), (2, 240.0), (20, 1e-6), (20, 1.0)])
def test_what_is_worth_nothing_is_not_foretold(store: Store, days: int, seconds: float) -> None:
    """After four minutes of the first day nobody knows the pace, nor what comes after many times the record's age."""
    for day in range(days):
        give(store, "p", NOON - day * DAY, seconds=seconds, samples=1, accepted=1)
    coming = {m.kind: m.at for m in look(store, GetOverview()).milestones if not m.reached}
    assert coming["seconds"] is None
    assert (coming["epochs"] is None) is (days < 3)


def test_an_empty_record_is_told_as_one(store: Store) -> None:
    shown = look(store, GetOverview())
    assert (shown.first, shown.sums, shown.bars, shown.milestones, shown.years) == (None, Sums(), (), (), ())
    assert len(shown.calendar) == 365


def test_what_is_written_after_a_view_was_opened_is_not_in_it(store: Store) -> None:
    give(store, "p", NOON)
    with closing(store.view()) as view:
        store.journal.flush()
        give(store, "p", NOON)
        store.journal.flush()
        assert [part[2] for part in view.hourly(0, NOON + DAY)] == [60.0]

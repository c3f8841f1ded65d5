"""What the recorder writes down while nothing is contributed, with a clock of the test's own."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.api.message import Message
from core.api.reasons import Reason
from core.api.record.events import GetEvents
from core.engine.decision.states import Idle
from core.engine.recorder import FLUSH_EVERY, Recorder
from core.store.queries.events import events
from core.store.store import Store
from tests.engine.decisions import CONTRIBUTING, GO, HOLDING, UNWANTED

START = 1_800_000_000.0


class Clocks:
    """A steady clock, and one that shows the time of day and may be changed."""

    def __init__(self) -> None:
        self.steady = 100.0
        self.now = START

    def go_on(self, seconds: float) -> float:
        self.steady += seconds
        self.now += seconds
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "idlehive.sqlite")
    yield opened
    opened.close()


def idle(store: Store) -> dict[str, float]:
    store.journal.flush()
    rows = store.database.rows("SELECT reason, sum(seconds) AS seconds FROM idle GROUP BY reason")
    return {row["reason"]: row["seconds"] for row in rows}


def test_the_time_until_a_change_counts_for_the_reason_before_it(store: Store) -> None:
    clocks = Clocks()
    recorder = Recorder(store, lambda _event: None, lambda: clocks.steady)
    recorder.watch("in_use", clocks.now)
    recorder.watch("on_battery", clocks.go_on(40))
    recorder.watch(None, clocks.go_on(2))
    recorder.watch("in_use", clocks.go_on(1000))
    recorder.watch(None, clocks.go_on(5))
    assert idle(store) == {"in_use": 45.0, "on_battery": 2.0}


@pytest.mark.parametrize("change", [-7200.0, 7200.0, -365 * 86_400.0])
def test_a_change_of_the_clock_makes_no_time(store: Store, change: float) -> None:
    clocks = Clocks()
    recorder = Recorder(store, lambda _event: None, lambda: clocks.steady)
    recorder.watch("in_use", clocks.now)
    clocks.now += change
    recorder.watch("in_use", clocks.go_on(30))
    assert idle(store) == {"in_use": 30.0}


def test_at_most_ten_seconds_are_in_memory_alone_while_something_is_watched(store: Store) -> None:
    clocks = Clocks()
    recorder = Recorder(store, lambda _event: None, lambda: clocks.steady)
    for _ in range(100):
        recorder.watch("in_use", clocks.now)
        recorder.flush(clocks.now)
        following = recorder.next_moment(clocks.now)
        assert following is not None
        assert following <= clocks.now + FLUSH_EVERY
        clocks.go_on(max(0.5, following - clocks.now))
    on_disk = store.database.rows("SELECT coalesce(sum(seconds), 0) FROM idle")[0][0]
    assert on_disk >= clocks.now - START - 2 * FLUSH_EVERY
    assert store.journal.pending.idle == {}


def test_what_the_volunteer_chose_is_on_disk_at_once_however_lately_something_was_written(store: Store) -> None:
    clocks = Clocks()
    recorder = Recorder(store, lambda _event: None, lambda: clocks.steady)
    store.journal.notice("joined", Message("joined"), None, clocks.now)
    recorder.flush(clocks.now)
    store.journal.notice("left", Message("left"), None, clocks.now)
    recorder.flush(clocks.go_on(1))
    assert store.journal.pending
    store.journal.setting("intent", "{}")
    assert recorder.next_moment(clocks.now) == clocks.now
    recorder.flush(clocks.now)
    assert not store.journal.pending


def told(store: Store) -> list[tuple[str, str | None]]:
    """Kinds and projects of the events, by time: of the file and of what is pending."""
    with closing(store.view()) as view:
        return [(each.message.kind, each.project) for each in reversed(events(view, GetEvents(), str))]


def test_a_change_between_contributing_and_a_reason_is_an_event(store: Store) -> None:
    recorder = Recorder(store, lambda _event: None)
    busy = [Reason("processor_busy", hold=True, params={"share": share}) for share in (0.8, 0.9)]
    recorder.follow(Idle(), UNWANTED, START)
    assert told(store) == []
    recorder.follow(CONTRIBUTING, GO, START + 1)
    for number, reason in enumerate(busy, 2):
        recorder.follow(HOLDING, replace(GO, reasons=(reason,)), START + number)
    store.journal.flush()
    recorder.follow(CONTRIBUTING, GO, START + 4)
    recorder.follow(Idle(), UNWANTED, START + 5)
    assert [kind for kind, _ in told(store)] == [
        "contribution_began",
        "processor_busy",
        "contribution_began",
        "contribution_ended",
    ]
    assert {project for _, project in told(store)} == {"p"}


def test_the_oldest_events_are_dropped(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.store.journal._MOST_NOTICES", 3)
    for number in range(5):
        store.journal.notice("state", Message(f"kind_{number}"), None, START + number)
        store.journal.flush()
    assert [kind for kind, _ in told(store)] == ["kind_2", "kind_3", "kind_4"]

"""Which news the desktop is told of. How a real notification daemon shows them is seen in test_desktop."""

import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from app.desktop.notifications import Notification
from app.desktop.window_settings import Settings
from app.link.engine_link import EngineLink
from app.window.notification_policy import NotificationPolicy
from core.api.message import Message
from core.api.protocol import Event
from core.api.reasons import Reason, Severity
from core.api.record.record import Cost, GetOverview, Milestone, Overview, Sums
from core.api.snapshot import Snapshot
from core.client.profile import Profile
from tests.app.snapshots import CONTRIBUTING, IDLE
from tests.fakes.scripted_engine import ScriptedEngine

Show = Callable[[Snapshot], None]
FIRST = Event("first_contribution", Message("first_contribution"), 1.0, project="birds")
EPOCH = Event("epoch_done", Message("epoch_done", {"epoch": 3, "samples": 8}), 1.0, "birds", 3, 2.5)
MISSING = Reason("gpu_missing", False, {"cause": Message("gpu_not_listed")}, severity=Severity.PROBLEM)


@pytest.fixture
def settings(profile: Profile) -> Settings:
    return Settings(profile)


@pytest.fixture
def withdrawn() -> list[Notification]:
    return []


@pytest.fixture
def told(link: EngineLink, settings: Settings, withdrawn: list[Notification]) -> Iterator[list[Notification]]:
    notes: list[Notification] = []
    news = NotificationPolicy(link, settings, notes.append, withdrawn.append)
    yield notes
    news.deleteLater()


def overview(*reached: Milestone) -> Overview:
    nothing: dict[str, object] = {"since": 0.0, "until": 1.0, "first": None, "sums": Sums(), "sessions": 0}
    return Overview(
        **nothing,  # type: ignore[arg-type]
        cost=Cost(),
        projects=(),
        bucket="day",
        bars=(),
        year=2025,
        years=(),
        calendar=(),
        milestones=reached,
    )


def test_the_first_contribution_is_told(told: list[Notification], engine: ScriptedEngine, qtbot: QtBot) -> None:
    engine.tell(FIRST)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [Notification("Your computer contributes", "Its first samples are computed. Thank you!")]


def test_nothing_is_told_once_it_is_switched_off(
    told: list[Notification], settings: Settings, engine: ScriptedEngine, link: EngineLink, qtbot: QtBot
) -> None:
    settings.notifications = False
    with qtbot.waitSignal(link.event_came):
        engine.tell(FIRST)
    with qtbot.waitSignal(link.event_came):
        engine.tell(replace(FIRST, kind="warning"))
    assert told == []


def test_a_problem_that_needs_the_volunteer_is_told_once(told: list[Notification], show: Show) -> None:
    for number in range(3):
        show(replace(CONTRIBUTING, state="idle", reasons=(MISSING,), engine_pid=number))
        show(replace(CONTRIBUTING, engine_pid=number))
    assert [note.text for note in told] == ["The graphics card does not answer. The driver does not list it any more."]
    assert told[0].urgent


def test_what_was_told_of_a_problem_goes_away_with_it(
    told: list[Notification], withdrawn: list[Notification], show: Show
) -> None:
    show(replace(CONTRIBUTING, state="idle", reasons=(MISSING,)))
    assert withdrawn == []
    show(CONTRIBUTING)
    assert withdrawn == told != []


def test_a_problem_of_somebody_who_wants_nothing_is_no_news(told: list[Notification], show: Show) -> None:
    show(replace(IDLE, reasons=(MISSING,)))
    assert told == []


def test_a_milestone_is_told_when_it_is_reached_and_not_those_before(
    told: list[Notification], show: Show, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr("app.window.notification_policy._REQUEST_INTERVAL", 0.0)
    hour = Milestone("seconds", 3600.0, time.time(), reached=True)
    engine.answer(GetOverview, overview(hour, Milestone("samples", 1000.0, None, reached=False)))
    show(CONTRIBUTING)
    qtbot.waitUntil(lambda: len(engine.received(GetOverview)) == 1)
    engine.tell(EPOCH)
    qtbot.waitUntil(lambda: len(engine.received(GetOverview)) == 2)
    engine.answer(GetOverview, overview(hour, Milestone("samples", 1000.0, time.time(), reached=True)))
    engine.tell(EPOCH)
    qtbot.waitUntil(lambda: bool(told))
    assert told == [Notification("A milestone", "1\N{NARROW NO-BREAK SPACE}000 samples computed.")]

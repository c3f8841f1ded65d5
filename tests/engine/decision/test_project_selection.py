"""Which of several joined projects is contributed to: the pure choice, and a real engine that follows it."""

from types import NoneType

import pytest

from core.api.errors import UsageError
from core.api.intent import Contribute
from core.api.preferences.commands import PreferenceInfo, SetPreference
from core.api.project.projects import JoinProject, ListProjects, OrderProjects, ProjectInfo
from core.api.reasons import Kind, Reason
from core.engine.decision.project_selection import (
    SETTLED,
    SETTLED_AFTER_FAILURE,
    Candidate,
    Choice,
    choose,
    own_reasons,
)
from tests.engine.projects.organiser import Organiser
from tests.fakes.running_engine import RunningEngine
from tests.waiting import wait_for

NOW = 1_760_000_000.0
PAUSED = Reason(Kind.PAUSED, hold=True)
SLOW = Reason("network_too_slow", hold=False)
OFFLINE = Reason("offline", hold=True)
A, B = Candidate("a"), Candidate("b")
SLOW_A = Candidate("a", (SLOW,))


def selected(before: Choice, *candidates: Candidate, now: float = NOW, in_session: bool = True) -> str | None:
    return choose(before, candidates, now, in_session=in_session).project


def test_without_projects_there_is_none_at_hand() -> None:
    assert choose(Choice("a"), [], NOW, in_session=True) == Choice()


def test_the_first_that_can_run_is_chosen_at_once_where_nothing_runs() -> None:
    assert selected(Choice(), A, B, in_session=False) == "a"
    assert selected(Choice(), SLOW_A, B, in_session=False) == "b"
    assert selected(Choice("a"), SLOW_A, B, in_session=False) == "b"


def test_where_none_can_run_the_first_waits() -> None:
    assert selected(Choice(), SLOW_A, Candidate("b", (OFFLINE,)), in_session=False) == "a"


def test_what_stands_against_all_is_no_reason_to_change() -> None:
    paused = Candidate("a", (PAUSED,)), Candidate("b", (PAUSED,))
    assert selected(Choice("a"), *paused) == "a"
    assert own_reasons([Candidate("a", (PAUSED, SLOW)), Candidate("b", (PAUSED,))]) == {"a": (SLOW,), "b": ()}


def test_a_session_is_left_only_for_what_lasts_a_minute() -> None:
    waiting = choose(Choice("a"), [SLOW_A, B], NOW, in_session=True)
    assert (waiting.project, waiting.better, waiting.change_at) == ("a", "b", NOW + SETTLED)
    assert selected(waiting, SLOW_A, B, now=NOW + SETTLED - 1) == "a"
    assert selected(waiting, SLOW_A, B, now=NOW + SETTLED) == "b"


def test_it_goes_back_to_the_first_when_that_could_have_run_for_a_minute() -> None:
    waiting = choose(Choice("b"), [A, B], NOW, in_session=True)
    assert waiting.project == "b"
    assert selected(waiting, A, B, now=NOW + SETTLED) == "a"


def test_a_first_that_comes_and_goes_does_not_interrupt_the_second() -> None:
    choice = Choice("b")
    for second in range(0, 3600, 20):
        blocked = (second // 40) % 2 == 0
        choice = choose(choice, [SLOW_A if blocked else A, B], NOW + second, in_session=True)
        assert choice.project == "b"


def test_a_first_whose_sessions_failed_is_tried_again_after_half_an_hour() -> None:
    failed = Candidate("a", failures=5)
    waiting = choose(Choice("b"), [failed, B], NOW, in_session=True)
    assert waiting.change_at == NOW + SETTLED_AFTER_FAILURE
    assert selected(waiting, failed, B, now=NOW + SETTLED) == "b"
    assert selected(waiting, failed, B, now=NOW + SETTLED_AFTER_FAILURE) == "a"


@pytest.mark.parametrize(("wait", "expected"), [(20.0, "a"), (SETTLED + 20, "b")])
def test_a_reason_that_is_over_soon_is_waited_for(wait: float, expected: str) -> None:
    backing_off = Candidate("a", (Reason(Kind.BACKING_OFF, hold=False, until=NOW + wait),))
    assert selected(Choice(), backing_off, B, in_session=False) == expected


def test_a_clock_that_was_set_back_restarts_the_wait() -> None:
    waiting = choose(Choice("b"), [A, B], NOW, in_session=True)
    again = choose(waiting, [A, B], NOW - 86_400, in_session=True)
    assert (again.project, again.change_at) == ("b", NOW - 86_400 + SETTLED)


def test_a_project_that_was_left_is_not_kept() -> None:
    assert selected(Choice("c"), A, B) == "a"


def joined(engine: RunningEngine, organiser: Organiser) -> None:
    """Poems first, which needs 1 MB/s up; then practice."""
    needs = {"upload": 1_000_000, "download": 0, "memory": 0, "gpu_memory": 0, "disk": 0}
    engine.start().ask(JoinProject(organiser.publish(requirements=needs)), ProjectInfo)
    engine.ask(JoinProject("practice"), ProjectInfo)


def listed(engine: RunningEngine) -> dict[str, ProjectInfo]:
    return {info.id: info for info in engine.ask(ListProjects(), list[ProjectInfo])}


def test_the_second_project_runs_while_the_first_cannot_and_says_why(
    engine: RunningEngine, organiser: Organiser
) -> None:
    joined(engine, organiser)
    engine.ask(SetPreference("upload_limit", 100_000), PreferenceInfo)
    engine.tell(Contribute())
    assert engine.until("contributing").project == "practice"
    poems, practice = listed(engine)["poems"], listed(engine)["practice"]
    assert [reason.kind for reason in poems.reasons] == ["network_too_slow"]
    assert (poems.rank, practice.rank, practice.reasons, practice.active) == (1, 2, (), True)


def test_who_names_a_project_gets_that_one(engine: RunningEngine, organiser: Organiser) -> None:
    joined(engine, organiser)
    engine.tell(Contribute("practice"))
    running = engine.until("contributing")
    assert (running.project, running.pinned) == ("practice", "practice")


def test_a_project_that_fails_for_good_gives_way_until_it_is_asked_for(
    engine: RunningEngine, organiser: Organiser
) -> None:
    joined(engine, organiser)
    engine.script(fault="This model does not exist.", permanent=True)
    engine.tell(Contribute())
    wait_for(lambda: engine.snapshot().project == "practice")
    assert [reason.kind for reason in listed(engine)["poems"].reasons] == [Kind.GAVE_UP]


def test_a_new_order_counts_at_once_and_survives_a_restart(engine: RunningEngine, organiser: Organiser) -> None:
    joined(engine, organiser)
    engine.tell(Contribute())
    assert engine.until("contributing").project == "poems"
    engine.ask(OrderProjects(("practice",)), list[ProjectInfo])
    wait_for(lambda: engine.snapshot().project == "practice" and engine.snapshot().state == "contributing")
    engine.quit()
    engine.start()
    assert [info.id for info in engine.ask(ListProjects(), list[ProjectInfo])] == ["practice", "poems"]


def test_only_joined_projects_have_an_order(engine: RunningEngine) -> None:
    engine.start()
    with pytest.raises(UsageError, match="not_a_member project=practice"):
        engine.ask(OrderProjects(("practice",)), NoneType)

"""The lifecycle, row by row: a state, a decision and news lead to a state and effects."""

from dataclasses import replace

import pytest

from core.api.message import Message
from core.api.reasons import Kind, Reason
from core.api.session import Fault, Hold, Leave, Resume
from core.api.snapshot import Transfer
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.lifecycle import (
    HOLD_WITHIN,
    KILL_AFTER,
    LEAVE_WITHIN,
    LONGEST_HOLD,
    TIMEOUTS,
    forgive,
    lifecycle,
    next_moment,
)
from core.engine.decision.states import (
    Contributing,
    Effect,
    Ended,
    Failed,
    Holding,
    Idle,
    Input,
    Joining,
    KillGroup,
    Leaving,
    Starting,
    StartSession,
    State,
    Syncing,
)
from core.system.backoff import FIRST_WAIT, FORGIVEN_AFTER, LONGEST_WAIT
from tests.engine.decisions import (
    CONTRIBUTING,
    GO,
    HOLDING,
    JOINING,
    MUST_LEAVE,
    NOW,
    PAUSED,
    SESSIONS,
    STARTING,
    SYNCING,
    UNWANTED,
    report,
)

ERROR = Message("process_killed", {"signal": "SIGKILL"})
FAILURE = Failure(ERROR, permanent=False, failures=1, retry_at=NOW + FIRST_WAIT)
SLOW_LINE = Message("line_too_slow", {"together": 9.0, "without": 1.0})
FOR_GOOD = replace(FAILURE, permanent=True)
OTHER = replace(GO, project="q")
PAUSE = replace(GO, reasons=(PAUSED,))
LEAVE = replace(GO, reasons=(PAUSED, MUST_LEAVE))
BACKING_OFF = replace(GO, reasons=(Reason(Kind.BACKING_OFF, hold=False),))
PAUSED_TOO = replace(GO, reasons=(*BACKING_OFF.reasons, PAUSED))
LEAVING = Leaving("p", (), NOW + KILL_AFTER)
FAILING = replace(LEAVING, failure=FAILURE)
FAILED = Failed("p", FAILURE)


def leaving(*reasons: Reason, failure: Failure | None = None) -> Leaving:
    return Leaving("p", reasons, NOW + KILL_AFTER, failure=failure)


Row = tuple[State, Decision, Input | None, State, tuple[Effect, ...]]
LEAVES = (Leave(LEAVE_WITHIN),)
TABLE: dict[str, Row] = {
    "idle starts": (Idle(), GO, None, Starting("p", NOW + TIMEOUTS["starting"]), (StartSession("p"),)),
    "idle keeps why": (Idle(), PAUSE, None, Idle((PAUSED,)), ()),
    "idle unwanted": (Idle(), UNWANTED, None, Idle(), ()),
    "preparing": (
        STARTING,
        GO,
        report("preparing", Transfer(1, 2)),
        Starting("p", NOW + TIMEOUTS["starting"], transfer=Transfer(1, 2)),
        (),
    ),
    "to joining": (STARTING, GO, report("joining"), Joining("p", NOW + TIMEOUTS["joining"]), ()),
    "joining has one patience": (JOINING, GO, report("joining"), JOINING, ()),
    "to syncing": (JOINING, GO, report("syncing"), Syncing("p", NOW + TIMEOUTS["syncing"]), ()),
    "stages may be short": (
        STARTING,
        GO,
        report("contributing"),
        Contributing("p", NOW + TIMEOUTS["contributing"], since=NOW),
        (),
    ),
    "syncing moves on": (
        SYNCING,
        GO,
        report("syncing", Transfer(5, 9)),
        Syncing("p", NOW + TIMEOUTS["syncing"], transfer=Transfer(5, 9)),
        (),
    ),
    "syncing stands still": (SYNCING, GO, report("syncing"), SYNCING, ()),
    "to contributing": (
        SYNCING,
        GO,
        report("contributing"),
        Contributing("p", NOW + TIMEOUTS["contributing"], since=NOW),
        (),
    ),
    "contributing goes on": (
        CONTRIBUTING,
        GO,
        report("contributing"),
        replace(CONTRIBUTING, deadline=NOW + TIMEOUTS["contributing"]),
        (),
    ),
    "out of step": (CONTRIBUTING, GO, report("syncing"), Syncing("p", NOW + TIMEOUTS["syncing"]), ()),
    "cut off": (CONTRIBUTING, GO, report("joining"), Syncing("p", NOW + TIMEOUTS["syncing"]), ()),
    "an old hold report": (CONTRIBUTING, GO, report("holding"), CONTRIBUTING, ()),
    "pause holds": (CONTRIBUTING, PAUSE, None, Holding("p", (PAUSED,), NOW), (Hold(),)),
    "pause before contributing leaves": (SYNCING, PAUSE, None, leaving(PAUSED), LEAVES),
    "a leave reason leaves": (CONTRIBUTING, LEAVE, None, leaving(PAUSED, MUST_LEAVE), LEAVES),
    "another project leaves": (CONTRIBUTING, OTHER, None, leaving(), LEAVES),
    "unwanted leaves": (CONTRIBUTING, UNWANTED, None, leaving(), LEAVES),
    "held": (replace(HOLDING, obeyed=False), PAUSE, report("holding"), HOLDING, ()),
    "an old report while holding": (HOLDING, PAUSE, report("contributing"), HOLDING, ()),
    "resume": (HOLDING, GO, None, Contributing("p", NOW + TIMEOUTS["contributing"], since=NOW), (Resume(),)),
    "held too long": (replace(HOLDING, since=NOW - LONGEST_HOLD), PAUSE, None, leaving(PAUSED), LEAVES),
    "does not hold": (
        replace(HOLDING, obeyed=False, since=NOW - HOLD_WITHIN),
        PAUSE,
        report("contributing"),
        leaving(PAUSED),
        LEAVES,
    ),
    "holding, then a leave reason": (HOLDING, LEAVE, None, leaving(PAUSED, MUST_LEAVE), LEAVES),
    "no progress": (
        replace(JOINING, deadline=NOW),
        GO,
        None,
        leaving(failure=replace(FAILURE, error=Message("no_progress_joining"))),
        LEAVES,
    ),
    "a fault": (CONTRIBUTING, GO, Fault(ERROR), leaving(failure=FAILURE), LEAVES),
    "a fault while holding": (HOLDING, PAUSE, Fault(ERROR), leaving(PAUSED, failure=FAILURE), LEAVES),
    "a fault that costs the others": (
        STARTING,
        GO,
        Fault(SLOW_LINE),
        leaving(failure=Failure(SLOW_LINE, permanent=False, failures=1, retry_at=NOW + LONGEST_WAIT)),
        LEAVES,
    ),
    "a fault for good": (STARTING, GO, Fault(ERROR, permanent=True), leaving(failure=FOR_GOOD), LEAVES),
    "leaves unasked": (
        CONTRIBUTING,
        GO,
        report("leaving"),
        leaving(failure=replace(FAILURE, error=Message("session_ended"))),
        LEAVES,
    ),
    "killed": (CONTRIBUTING, GO, Ended(ERROR), FAILED, ()),
    "ended unasked": (
        CONTRIBUTING,
        GO,
        Ended(),
        Failed("p", replace(FAILURE, error=Message("session_ended"))),
        (),
    ),
    "ended as it was to": (CONTRIBUTING, UNWANTED, Ended(), Idle(), ()),
    "left": (LEAVING, PAUSE, Ended(), Idle((PAUSED,)), ()),
    "left and wanted again": (LEAVING, GO, Ended(), Idle(), ()),
    "left by a fault": (FAILING, GO, Ended(), FAILED, ()),
    "left by a fault, unwanted": (FAILING, UNWANTED, Ended(), Idle(), ()),
    "wanted again must wait": (LEAVING, GO, report("contributing"), LEAVING, ()),
    "does not leave": (replace(LEAVING, deadline=NOW), GO, None, LEAVING, (KillGroup(),)),
    "clock set back while leaving": (replace(LEAVING, deadline=NOW + 3600), GO, None, LEAVING, (KillGroup(),)),
    "failed waits": (FAILED, BACKING_OFF, None, FAILED, ()),
    "failed for good waits": (Failed("p", FOR_GOOD), BACKING_OFF, None, Failed("p", FOR_GOOD), ()),
    "failed is over": (Failed("p", replace(FAILURE, retry_at=NOW)), GO, None, Idle((), 1), ()),
    "failed, then paused": (FAILED, PAUSED_TOO, None, Idle(PAUSED_TOO.reasons, 1), ()),
    "failed, then unwanted": (FAILED, replace(BACKING_OFF, wanted=False), None, Idle(BACKING_OFF.reasons, 1), ()),
    "failed, then another project": (FAILED, OTHER, None, Idle(), ()),
    "idle after earlier failures": (
        Idle(),
        replace(GO, failures=4),
        None,
        Starting("p", NOW + TIMEOUTS["starting"], 4),
        (StartSession("p"),),
    ),
}


@pytest.mark.parametrize("name", TABLE)
def test_step(name: str) -> None:
    state, decision, news, expected, effects = TABLE[name]
    assert lifecycle(state, decision, news, NOW) == (expected, effects)


def test_waits_grow_to_ten_minutes() -> None:
    waits = []
    state: State = CONTRIBUTING
    for _ in range(10):
        failed, _effects = lifecycle(state, GO, Ended(ERROR), NOW)
        assert isinstance(failed, Failed)
        waits.append(failed.failure.retry_at - NOW)
        state = replace(CONTRIBUTING, failures=failed.failures)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]
    assert waits[-1] == LONGEST_WAIT


def test_failures_are_forgotten_after_contributing_for_a_while() -> None:
    state = replace(CONTRIBUTING, failures=4, since=NOW - FORGIVEN_AFTER + 1)
    assert lifecycle(state, GO, report("contributing"), NOW)[0].failures == 4
    assert lifecycle(state, GO, report("contributing"), NOW + 1)[0].failures == 0


def test_failures_are_remembered_on_the_whole_way() -> None:
    state, _ = lifecycle(Failed("p", replace(FAILURE, failures=3)), replace(PAUSED_TOO), None, NOW)
    for decision, news in ((GO, None), (GO, report("joining")), (GO, report("syncing")), (GO, report("contributing")),
                           (PAUSE, None), (GO, None), (LEAVE, None), (GO, Ended())):  # fmt: skip
        state, _ = lifecycle(state, decision, news, NOW)
        assert state.failures == 3


@pytest.mark.parametrize(
    "state", [Idle((), 3), replace(CONTRIBUTING, failures=3), FAILING, FAILED, Failed("p", FOR_GOOD)]
)
def test_a_volunteer_who_asks_again_does_not_wait(state: State) -> None:
    forgiven = forgive(state)
    assert forgiven.failures == 0
    assert getattr(forgiven, "failure", None) is None


@pytest.mark.parametrize("state", [*SESSIONS, replace(HOLDING, obeyed=False), LEAVING, FAILED])
def test_the_next_moment_is_one_at_which_something_happens(state: State) -> None:
    moment = next_moment(state)
    assert moment is not None
    decision = {Holding: PAUSE, Failed: replace(GO, reasons=())}.get(type(state), GO)
    after, effects = lifecycle(state, decision, None, moment)
    assert after != state or effects

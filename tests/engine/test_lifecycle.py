"""The life of a session: a table of steps, and properties of every way through it."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.api.preferences import Limits
from core.api.reasons import Kind, Reason
from core.api.session import Fault, Report
from core.api.snapshot import Transfer
from core.engine.decide import LONGEST_WAIT, Decision, Trouble
from core.engine.lifecycle import (
    FIRST_WAIT,
    FORGIVEN_AFTER,
    HOLD_WITHIN,
    KILL_AFTER,
    LEAVE_WITHIN,
    LONGEST_HOLD,
    PATIENCE,
    forgive,
    lifecycle,
    next_moment,
)
from core.engine.states import (
    Contributing,
    Effect,
    Ended,
    Failed,
    Holding,
    Idle,
    Joining,
    KillGroup,
    Leaving,
    News,
    SendHold,
    SendLeave,
    SendResume,
    Starting,
    StartSession,
    State,
    Syncing,
)

NOW = 1000.0
LATER = NOW + 100
PAUSED = Reason(Kind.PAUSED, hold=True, text="Paused.")
MUST_LEAVE = Reason(Kind.NO_PROJECT, hold=False, text="No project.")
TROUBLE = Trouble("It failed.", permanent=False, failures=1, retry_at=NOW + FIRST_WAIT)
FOR_GOOD = replace(TROUBLE, permanent=True)

GO = Decision(True, "p", (), Limits())
OTHER = replace(GO, project="q")
UNWANTED = replace(GO, wanted=False)
PAUSE = replace(GO, reasons=(PAUSED,))
LEAVE = replace(GO, reasons=(PAUSED, MUST_LEAVE))
BACKING_OFF = replace(GO, reasons=(Reason(Kind.BACKING_OFF, hold=False, text="It failed."),))
PAUSED_TOO = replace(GO, reasons=(*BACKING_OFF.reasons, PAUSED))

IDLE = Idle()
STARTING = Starting("p", LATER)
JOINING = Joining("p", LATER)
SYNCING = Syncing("p", LATER)
CONTRIBUTING = Contributing("p", LATER, since=NOW - 10)
HOLDING = Holding("p", (PAUSED,), since=NOW - 10, obeyed=True)
LEAVING = Leaving("p", (), NOW + KILL_AFTER)
FAILING = replace(LEAVING, trouble=TROUBLE)
FAILED = Failed("p", TROUBLE)
SESSIONS = (STARTING, JOINING, SYNCING, CONTRIBUTING, HOLDING)


def leaving(*reasons: Reason, trouble: Trouble | None = None) -> Leaving:
    return Leaving("p", reasons, NOW + KILL_AFTER, trouble=trouble)


def report(stage: str, transfer: Transfer | None = None) -> Report:
    return Report(stage, transfer=transfer)  # type: ignore[arg-type]  # a Stage by the table


Row = tuple[State, Decision, News | None, State, tuple[Effect, ...]]
GOODBYE = (SendLeave(LEAVE_WITHIN),)
TABLE: dict[str, Row] = {
    "idle starts": (Idle(), GO, None, Starting("p", NOW + PATIENCE["starting"]), (StartSession("p"),)),
    "idle keeps why": (Idle(), PAUSE, None, Idle((PAUSED,)), ()),
    "idle unwanted": (Idle(), UNWANTED, None, Idle(), ()),
    "preparing": (
        STARTING,
        GO,
        report("preparing", Transfer(1, 2)),
        Starting("p", NOW + PATIENCE["starting"], transfer=Transfer(1, 2)),
        (),
    ),
    "to joining": (STARTING, GO, report("joining"), Joining("p", NOW + PATIENCE["joining"]), ()),
    "joining has one patience": (JOINING, GO, report("joining"), JOINING, ()),
    "to syncing": (JOINING, GO, report("syncing"), Syncing("p", NOW + PATIENCE["syncing"]), ()),
    "stages may be short": (
        STARTING,
        GO,
        report("contributing"),
        Contributing("p", NOW + PATIENCE["contributing"], NOW),
        (),
    ),
    "syncing moves on": (
        SYNCING,
        GO,
        report("syncing", Transfer(5, 9)),
        Syncing("p", NOW + PATIENCE["syncing"], transfer=Transfer(5, 9)),
        (),
    ),
    "syncing stands still": (SYNCING, GO, report("syncing"), SYNCING, ()),
    "to contributing": (
        SYNCING,
        GO,
        report("contributing"),
        Contributing("p", NOW + PATIENCE["contributing"], NOW),
        (),
    ),
    "contributing goes on": (
        CONTRIBUTING,
        GO,
        report("contributing"),
        replace(CONTRIBUTING, deadline=NOW + PATIENCE["contributing"]),
        (),
    ),
    "out of step": (CONTRIBUTING, GO, report("syncing"), Syncing("p", NOW + PATIENCE["syncing"]), ()),
    "cut off": (CONTRIBUTING, GO, report("joining"), Syncing("p", NOW + PATIENCE["syncing"]), ()),
    "an old hold report": (CONTRIBUTING, GO, report("holding"), CONTRIBUTING, ()),
    "pause holds": (CONTRIBUTING, PAUSE, None, Holding("p", (PAUSED,), NOW), (SendHold(),)),
    "pause before contributing leaves": (SYNCING, PAUSE, None, leaving(PAUSED), GOODBYE),
    "a leave reason leaves": (CONTRIBUTING, LEAVE, None, leaving(PAUSED, MUST_LEAVE), GOODBYE),
    "another project leaves": (CONTRIBUTING, OTHER, None, leaving(), GOODBYE),
    "unwanted leaves": (CONTRIBUTING, UNWANTED, None, leaving(), GOODBYE),
    "held": (replace(HOLDING, obeyed=False), PAUSE, report("holding"), HOLDING, ()),
    "an old report while holding": (HOLDING, PAUSE, report("contributing"), HOLDING, ()),
    "resume": (HOLDING, GO, None, Contributing("p", NOW + PATIENCE["contributing"], NOW), (SendResume(),)),
    "held too long": (replace(HOLDING, since=NOW - LONGEST_HOLD), PAUSE, None, leaving(PAUSED), GOODBYE),
    "does not hold": (
        replace(HOLDING, obeyed=False, since=NOW - HOLD_WITHIN),
        PAUSE,
        report("contributing"),
        leaving(PAUSED),
        GOODBYE,
    ),
    "holding, then a leave reason": (HOLDING, LEAVE, None, leaving(PAUSED, MUST_LEAVE), GOODBYE),
    "no progress": (
        replace(JOINING, deadline=NOW),
        GO,
        None,
        leaving(trouble=replace(TROUBLE, error="The session made no progress while joining.")),
        GOODBYE,
    ),
    "a fault": (CONTRIBUTING, GO, Fault("It failed."), leaving(trouble=TROUBLE), GOODBYE),
    "a fault while holding": (HOLDING, PAUSE, Fault("It failed."), leaving(PAUSED, trouble=TROUBLE), GOODBYE),
    "a fault for good": (STARTING, GO, Fault("It failed.", permanent=True), leaving(trouble=FOR_GOOD), GOODBYE),
    "leaves unasked": (
        CONTRIBUTING,
        GO,
        report("leaving"),
        leaving(trouble=replace(TROUBLE, error="The session ended by itself.")),
        GOODBYE,
    ),
    "killed": (CONTRIBUTING, GO, Ended("It failed."), FAILED, ()),
    "ended unasked": (
        CONTRIBUTING,
        GO,
        Ended(),
        Failed("p", replace(TROUBLE, error="The session ended by itself.")),
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
    "failed is over": (Failed("p", replace(TROUBLE, retry_at=NOW)), GO, None, Idle((), 1), ()),
    "failed, then paused": (FAILED, PAUSED_TOO, None, Idle(PAUSED_TOO.reasons, 1), ()),
    "failed, then unwanted": (FAILED, replace(BACKING_OFF, wanted=False), None, Idle(BACKING_OFF.reasons, 1), ()),
    "failed, then another project": (FAILED, OTHER, None, Idle(), ()),
    "idle after earlier failures": (
        Idle(),
        replace(GO, failures=4),
        None,
        Starting("p", NOW + PATIENCE["starting"], 4),
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
        failed, _effects = lifecycle(state, GO, Ended("It failed."), NOW)
        assert isinstance(failed, Failed)
        waits.append(failed.trouble.retry_at - NOW)
        state = replace(CONTRIBUTING, failures=failed.failures)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600]
    assert waits[-1] == LONGEST_WAIT


def test_failures_are_forgotten_after_contributing_for_a_while() -> None:
    state = replace(CONTRIBUTING, failures=4, since=NOW - FORGIVEN_AFTER + 1)
    assert lifecycle(state, GO, report("contributing"), NOW)[0].failures == 4
    assert lifecycle(state, GO, report("contributing"), NOW + 1)[0].failures == 0


def test_failures_are_remembered_on_the_whole_way() -> None:
    state, _ = lifecycle(Failed("p", replace(TROUBLE, failures=3)), replace(PAUSED_TOO), None, NOW)
    for decision, news in ((GO, None), (GO, report("joining")), (GO, report("syncing")), (GO, report("contributing")),
                           (PAUSE, None), (GO, None), (LEAVE, None), (GO, Ended())):  # fmt: skip
        state, _ = lifecycle(state, decision, news, NOW)
        assert state.failures == 3


@pytest.mark.parametrize(
    "state", [Idle((), 3), replace(CONTRIBUTING, failures=3), FAILING, FAILED, Failed("p", FOR_GOOD)]
)
def test_a_volunteer_who_asks_anew_is_not_made_to_wait(state: State) -> None:
    forgiven = forgive(state)
    assert forgiven.failures == 0
    assert getattr(forgiven, "trouble", None) is None


@pytest.mark.parametrize("state", [*SESSIONS, replace(HOLDING, obeyed=False), LEAVING, FAILED])
def test_the_next_moment_is_one_at_which_something_happens(state: State) -> None:
    moment = next_moment(state)
    assert moment is not None
    decision = {Holding: PAUSE, Failed: replace(GO, reasons=())}.get(type(state), GO)
    after, effects = lifecycle(state, decision, None, moment)
    assert after != state or effects


# What follows lives through whole lives, with a world that does what the effects say.

reasons = st.lists(st.sampled_from([PAUSED, MUST_LEAVE]), unique=True, max_size=2).map(tuple)
decisions = st.builds(Decision, st.booleans(), st.sampled_from(["p", "q"]), reasons, st.just(Limits()))
stages = st.sampled_from(["preparing", "joining", "syncing", "contributing", "holding", "leaving"])
told = st.one_of(
    st.none(),
    stages.map(report),
    st.builds(Fault, st.just("It failed."), st.booleans()),
    st.sampled_from([Ended(), Ended("It was killed.")]),
)
waits = st.sampled_from([0.0, 0.5, 6.0, 60.0, 1000.0, -30.0, -1e6])


@dataclass
class World:
    """One machine: it counts sessions and keeps the rules."""

    state: State = IDLE
    now: float = NOW
    sessions: int = 0

    def step(self, decision: Decision, news: News | None) -> tuple[Effect, ...]:
        if isinstance(news, Ended):
            self.sessions -= 1
        self.state, effects = lifecycle(self.state, decision, news, self.now)
        for effect in effects:
            if isinstance(effect, StartSession):
                self.sessions += 1
            else:
                assert self.sessions == 1, f"{effect} without a session"
        assert self.sessions in (0, 1), "never two sessions"
        assert (self.sessions == 1) == (not isinstance(self.state, Idle | Failed)), self.state
        return effects


@given(st.lists(st.tuples(decisions, told, waits), max_size=60))
@settings(max_examples=300, deadline=None)
def test_there_are_never_two_sessions_and_every_life_comes_to_rest(steps: list[tuple[Decision, News, float]]) -> None:
    world = World()
    for decision, news, wait in steps:
        world.now += wait
        world.step(decision, news if world.sessions else None)
    # Whatever was before: unwanted, a session that hears nothing is told to leave, then killed, and then all is idle.
    effects = [*world.step(UNWANTED, None)]
    if world.sessions:
        assert isinstance(world.state, Leaving)
        assert world.state.deadline <= world.now + KILL_AFTER
        world.now += KILL_AFTER
        effects += world.step(UNWANTED, None)
        assert KillGroup() in effects
        world.step(UNWANTED, Ended("It was killed."))
    world.step(UNWANTED, None)
    assert isinstance(world.state, Idle)


@given(st.lists(st.tuples(decisions, told, waits), max_size=30), decisions)
@settings(max_examples=300, deadline=None)
def test_without_news_it_settles_within_a_few_steps(steps: list[tuple[Decision, News, float]], last: Decision) -> None:
    world = World()
    for decision, news, wait in steps:
        world.now += wait
        world.step(decision, news if world.sessions else None)
    for _ in range(4):
        before = world.state
        world.step(last, None)
        if world.state == before:
            return
    pytest.fail(f"it does not settle: {world.state}")


@given(
    st.sampled_from(SESSIONS), st.lists(st.tuples(decisions, told.filter(lambda n: not isinstance(n, Ended)), waits))
)
@settings(max_examples=200, deadline=None)
def test_once_leaving_it_stays_so_until_the_session_has_ended(
    begun: State, steps: list[tuple[Decision, News, float]]
) -> None:
    world = World(begun, NOW, 1)
    world.step(UNWANTED, None)
    for decision, news, wait in steps:
        world.now += wait
        assert not any(isinstance(effect, StartSession | SendLeave) for effect in world.step(decision, news))
        assert isinstance(world.state, Leaving)
    world.step(UNWANTED, Ended())
    assert isinstance(world.state, Idle)

"""What holds of the lifecycle whatever comes."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.api.message import Message
from core.api.session import Fault, Leave
from core.api.session_settings import SessionSettings
from core.engine.decision.decide import Decision
from core.engine.decision.lifecycle import KILL_AFTER, lifecycle
from core.engine.decision.states import (
    Effect,
    Ended,
    Failed,
    Idle,
    Input,
    KillGroup,
    Leaving,
    StartSession,
    State,
)
from tests.engine.decisions import MUST_LEAVE, NOW, PAUSED, SESSIONS, UNWANTED, report

KILLED = Message("process_killed", {"signal": "SIGKILL"})
IDLE = Idle()
reasons = st.sampled_from([(), (PAUSED,), (MUST_LEAVE,), (PAUSED, MUST_LEAVE), (MUST_LEAVE, PAUSED)])
decisions = st.builds(Decision, st.booleans(), st.sampled_from(["p", "q"]), reasons, st.just(SessionSettings()))
stages = st.sampled_from(["preparing", "joining", "syncing", "contributing", "holding", "leaving"])
told = st.one_of(
    st.none(),
    stages.map(report),
    st.builds(Fault, st.just(KILLED), st.booleans()),
    st.sampled_from([Ended(), Ended(KILLED)]),
)
waits = st.sampled_from([0.0, 0.5, 6.0, 60.0, 1000.0, -30.0, -1e6])


@dataclass
class World:
    """One machine: it counts sessions and keeps the rules."""

    state: State = IDLE
    now: float = NOW
    sessions: int = 0

    def step(self, decision: Decision, news: Input | None) -> tuple[Effect, ...]:
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
@settings(max_examples=300)
def test_there_are_never_two_sessions_and_every_life_comes_to_rest(steps: list[tuple[Decision, Input, float]]) -> None:
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
        world.step(UNWANTED, Ended(KILLED))
    world.step(UNWANTED, None)
    assert isinstance(world.state, Idle)


@given(st.lists(st.tuples(decisions, told, waits), max_size=30), decisions)
@settings(max_examples=300)
def test_without_news_it_settles_within_a_few_steps(steps: list[tuple[Decision, Input, float]], last: Decision) -> None:
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
@settings(max_examples=200)
def test_once_leaving_it_stays_so_until_the_session_has_ended(
    begun: State, steps: list[tuple[Decision, Input, float]]
) -> None:
    world = World(begun, NOW, 1)
    world.step(UNWANTED, None)
    for decision, news, wait in steps:
        world.now += wait
        assert not any(isinstance(effect, StartSession | Leave) for effect in world.step(decision, news))
        assert isinstance(world.state, Leaving)
    world.step(UNWANTED, Ended())
    assert isinstance(world.state, Idle)

"""What front ends see of a session in difficulties."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.api.intent import Contribute, Pause, Resume
from core.api.message import Message
from core.api.session import Report
from core.api.session_settings import SessionSettings
from core.api.snapshot import CatchUp, Session, Silence, Snapshot
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.lifecycle import LONGEST_HOLD
from core.engine.decision.states import Contributing, Failed, Holding, State, Syncing
from core.engine.session.sessions import SILENT_AFTER
from core.engine.snapshot import build_snapshot
from tests.engine.world import Play, World

ERROR = Message("session_ended")


def seen(state: State, report: Report | None) -> Snapshot:
    decision = Decision(reasons=(), settings=SessionSettings(), project="p", wanted=True)
    return build_snapshot(Snapshot("idle", wanted=True), state, decision, report, Session(1, 0.0))


def test_a_session_that_is_cut_off_says_so_among_the_reasons() -> None:
    (reason,) = seen(Syncing("p", 0.0), Report("joining", cut_off=True)).reasons
    assert (reason.kind, reason.params) == ("offline", {"cause": Message("no_peers")})
    assert seen(Syncing("p", 0.0), Report("joining")).reasons == ()


def test_epochs_are_shown_while_catching_up_only() -> None:
    report = Report("syncing", catching_up=CatchUp(3, 9))
    assert seen(Syncing("p", 0.0), report).catching_up == CatchUp(3, 9)
    assert seen(Failed("p", Failure(ERROR, False, 1, 5.0)), report).catching_up is None


@pytest.mark.parametrize(("failures", "advises"), [(1, False), (3, False), (4, True), (9, True)])
def test_after_repeated_failures_the_volunteer_is_told_where_to_look(failures: int, advises: bool) -> None:
    error = seen(Failed("p", Failure(ERROR, False, failures, 5.0)), None).error
    assert error == (Message("failed_repeatedly", {"failure": ERROR, "times": failures}) if advises else ERROR)


def test_what_is_known_of_a_run_stays_when_the_session_has_ended(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        await world.wait_for(lambda: world.engine.snapshot().progress.samples > 0)
        before = world.engine.snapshot().progress
        await world.tell(Pause())
        await world.until("holding")
        world.now += LONGEST_HOLD + 1
        world.engine.update()
        after = (await world.until("idle")).progress
        assert after.target_batch_size == before.target_batch_size > 0
        assert after.epoch >= before.epoch
        assert (after.peers, after.samples, after.samples_per_second) == (before.peers, 0, 0.0)
        assert world.engine.snapshot().session is None

    play(scenario)


def test_a_session_that_stops_reporting_is_said_to_be_silent(play: Play) -> None:
    async def scenario(world: World) -> None:
        def seconds_pass() -> bool:
            world.now += 1
            world.engine.update()
            return world.engine.snapshot().silence is not None

        await world.tell(Contribute())
        session = (await world.until("contributing")).session
        assert session is not None
        with stopped(session.pid):
            await world.wait_for(seconds_pass)
            silence = world.engine.snapshot().silence
            assert silence is not None
            assert world.now - silence.since >= SILENT_AFTER
        await world.wait_for(lambda: world.engine.snapshot().silence is None)

    play(scenario)


@pytest.mark.parametrize("state", [Contributing("p", 0.0), Syncing("p", 0.0), Holding("p", (), 0.0)])
def test_on_hold_no_news_is_expected(state: State) -> None:
    silent = Snapshot("idle", silence=Silence(5.0))
    decision = Decision(reasons=(), settings=SessionSettings(), project="p", wanted=True)
    shown = build_snapshot(silent, state, decision, Report("contributing"), None).silence
    assert shown == (None if isinstance(state, Holding) else Silence(5.0))
    assert build_snapshot(silent, state, decision, None, None).silence is None, "nothing is old before a first report"


def test_a_session_that_goes_on_after_a_hold_has_time_to_report(play: Play) -> None:
    async def scenario(world: World) -> None:
        await world.tell(Contribute())
        await world.until("contributing")
        await world.tell(Pause())
        await world.until("holding")
        world.now += SILENT_AFTER + 1
        resumed = await world.tell(Resume())
        assert (resumed.state, resumed.silence) == ("contributing", None)

    play(scenario)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process hangs meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)

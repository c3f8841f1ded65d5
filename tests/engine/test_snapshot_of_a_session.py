"""What front ends see of a session in difficulties."""

import pytest

from core.api.intent import Contribute, Pause
from core.api.message import Message
from core.api.session import Report
from core.api.session_settings import SessionSettings
from core.api.snapshot import CatchUp, Session, Snapshot
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.lifecycle import LONGEST_HOLD
from core.engine.decision.states import Failed, State, Syncing
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

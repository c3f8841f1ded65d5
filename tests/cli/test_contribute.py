"""`idlehive contribute` against a scripted engine."""

import signal
import time

import pytest

from app.cli.contribute import Goal, Outcome, judge, restoring
from app.text import reasons
from core.api.errors import UsageError, WorldError
from core.api.intent import Contribute, Pause
from core.api.message import Message
from core.api.preferences.schedule import Level, ScheduleState
from core.api.protocol import Command, Event, Quit
from core.api.reasons import Kind, Reason
from core.api.snapshot import Snapshot
from tests.cli.conftest import RunCli, StartCli
from tests.cli.snapshots import AFTER, BEFORE, NOW, active, wait_for_line
from tests.fakes.scripted_engine import ScriptedEngine

PAUSED = Reason(Kind.PAUSED, hold=True)
TOO_LITTLE = Message("memory_full")
GAVE_UP = Reason(Kind.GAVE_UP, hold=False, params={"failure": TOO_LITTLE})


def overriding(until: float | None) -> Snapshot:
    """Contributing in an hour that is off, half an hour before the schedule's next change."""
    return active(schedule=ScheduleState(Level.OFF, Level.FULL, NOW + 1800, overridden=True, override_until=until))


def test_it_ends_with_0_when_the_epoch_is_reached(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "bees", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(18, 60))
    obedient.show(active(19, 120))
    obedient.show(AFTER)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Given: 120 samples towards 2 epochs in 15 s; 120 kB sent, 60.0 kB received." in out
    assert obedient.received(Contribute) == [Contribute("bees", None, 19)]


def test_an_engine_that_fulfilled_the_goal_by_itself_is_not_paused(
    obedient: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("contribute", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(19, 120))
    obedient.show(BEFORE)
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert not obedient.received(Pause)


def test_it_ends_with_0_when_the_time_is_over(obedient: ScriptedEngine, run_cli: RunCli) -> None:
    done = run_cli("contribute", "--for", "1s")
    assert done.returncode == 0
    assert obedient.received(Contribute) == [Contribute(None, 1, None)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_contributing_and_tells_what_was_given(
    obedient: ScriptedEngine, start_cli: StartCli, number: signal.Signals
) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Given: 120 samples" in out
    assert obedient.received(Pause) == [Pause()]
    assert not obedient.received(Quit)


def test_stopped_before_what_was_agreed_is_code_1(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--for", "2h")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 1


def test_an_engine_that_contributed_before_goes_on(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    obedient.show(active())
    process = start_cli("contribute", "whales")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert "continues to contribute, as before" in out
    assert obedient.received(Contribute) == [Contribute("whales"), Contribute("bees", override="none")]
    assert not obedient.received(Pause)


def test_giving_up_is_code_1_with_the_reason(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(Snapshot(state="failed", reasons=(GAVE_UP,), error=TOO_LITTLE, engine_pid=4242))
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == f"idlehive: {reasons.sentence(GAVE_UP)}\n"


def test_a_failure_that_is_tried_again_is_no_end(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    error, retry_at = Message("session_ended"), time.time() + 60
    obedient.show(Snapshot(state="failed", error=error, retry_at=retry_at, engine_pid=4242))
    wait_for_line(process, "Waiting to retry in 1 min: The session ended by itself")
    obedient.show(active())
    wait_for_line(process, "Contributing to Bees")
    assert process.poll() is None


@pytest.mark.parametrize(("error", "code"), [(UsageError("There is no project 'bees'."), 2), (WorldError("No."), 1)])
def test_a_refusal_changes_nothing(
    engine: ScriptedEngine, run_cli: RunCli, error: UsageError | WorldError, code: int
) -> None:
    engine.answer(Contribute, error)
    done = run_cli("contribute", "bees")
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"idlehive: {error}\n")
    assert not engine.received(Pause)


def test_an_engine_that_vanishes_is_told(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.stop()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == "idlehive: The engine has ended; it contributes no more.\n"


def test_a_reader_that_has_had_enough_stops_contributing(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    obedient.tell(Event("epoch_done", Message("epoch_done"), NOW, epoch=18, loss=4.2))
    obedient.wait_for(Pause)
    assert process.stderr.read() == ""
    assert process.wait(20) == 1


@pytest.mark.parametrize(
    ("goal", "epoch", "elapsed", "stop", "outcome"),
    [
        (Goal(), 5, 1e6, False, None),
        (Goal(), 5, 0, True, Outcome.STOPPED),
        (Goal(until_epoch=6), 5, 0, False, None),
        (Goal(until_epoch=6), 6, 0, False, Outcome.REACHED),
        (Goal(seconds=10), 0, 9.9, False, None),
        (Goal(seconds=10), 0, 10, False, Outcome.REACHED),
        (Goal(seconds=10), 0, 10, True, Outcome.STOPPED),
    ],
)
def test_the_end_is_judged(goal: Goal, epoch: int, elapsed: float, stop: bool, outcome: Outcome | None) -> None:
    assert judge(active(), goal, epoch, elapsed, stop) is outcome


@pytest.mark.parametrize(
    ("before", "wanted", "command"),
    [
        (BEFORE, True, Pause()),
        (BEFORE, False, None),
        (Snapshot(state="idle", reasons=(PAUSED,), wanted=True), True, Pause()),
        (Snapshot(state="idle", reasons=(Reason(Kind.SNOOZED, True, {}, NOW + 60),)), True, Pause(60.0)),
        (Snapshot(state="idle", reasons=(Reason(Kind.SNOOZED, True, {}, NOW - 60),)), True, Pause()),
        (active(), True, Contribute("bees", override="none")),
        (overriding(None), True, Contribute("bees", override="resumed")),
        (overriding(NOW + 1800), True, Contribute("bees")),
        (overriding(NOW + 60), True, Contribute("bees", 60.0)),
    ],
)
def test_the_intent_of_before_is_brought_back(before: Snapshot, wanted: bool, command: Command | None) -> None:
    assert restoring(before, wanted, NOW) == command

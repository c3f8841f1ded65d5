"""`idlehive contribute` against a scripted engine."""

import signal
import time

import pytest
from msgspec.structs import replace

from app.cli.contribute import Outcome, judge
from app.text import reasons
from core.api.errors import UsageError, WorldError
from core.api.intent import Contribute, GiveBack, Pause
from core.api.message import Message
from core.api.protocol import Event, Quit
from core.api.reasons import Kind, Reason
from core.api.snapshot import Snapshot
from tests.cli.conftest import RunCli, StartCli
from tests.cli.snapshots import AFTER, BEFORE, NOW, active, wait_for_line
from tests.fakes.scripted_engine import ScriptedEngine

TOO_LITTLE = Message("memory_full")
GAVE_UP = Reason(Kind.GAVE_UP, hold=False, params={"failure": TOO_LITTLE})


def test_it_ends_with_0_when_the_epoch_is_reached(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "bees", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(18, 60))
    obedient.show(active(19, 120))
    obedient.show(AFTER)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert "Given: 120 samples towards 2 epochs in 15 s; 120 kB sent, 60.0 kB received." in out
    assert obedient.received(Contribute) == [Contribute("bees", None, 19, borrow=True)]


def test_an_engine_that_fulfilled_the_goal_by_itself_is_not_paused(
    obedient: ScriptedEngine, start_cli: StartCli
) -> None:
    process = start_cli("contribute", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    # It never shows the epoch: the session has left by then.
    obedient.show(active(17, 120))
    obedient.show(replace(BEFORE, goals=(1,)))
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert not obedient.received(Pause)


def test_it_ends_with_0_when_the_time_is_over(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--for", "1s")
    wait_for_line(process, "Contributing to Bees")
    assert process.poll() is None
    obedient.show(AFTER)
    process.communicate(timeout=20)
    assert process.returncode == 0
    assert obedient.received(Contribute) == [Contribute(None, 1, None, borrow=True)]


def test_what_another_front_end_ends_is_stopped_early(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--for", "2h")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(active(borrowed=False))
    process.communicate(timeout=20)
    assert process.returncode == 1


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
    assert obedient.received(GiveBack) == [GiveBack(1)]
    assert not obedient.received(Quit)


def test_stopped_before_what_was_agreed_is_code_1(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--for", "2h")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode == 1


def test_an_engine_that_contributed_before_goes_on(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    obedient.show(active(borrowed=False))
    obedient.answer(GiveBack, lambda _: obedient.show(active(borrowed=False)))
    process = start_cli("contribute", "whales")
    wait_for_line(process, "Contributing to Bees")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert "continues to contribute, as before" in out
    assert obedient.received(Contribute) == [Contribute("whales", borrow=True)]
    assert obedient.received(GiveBack) == [GiveBack(1)]


def test_giving_up_is_code_1_with_the_reason(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(Snapshot(state="failed", reasons=(GAVE_UP,), error=TOO_LITTLE, engine_pid=4242, borrowings=(1,)))
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == f"idlehive: {reasons.sentence(GAVE_UP)}\n"


def test_a_failure_that_is_tried_again_is_no_end(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    error, retry_at = Message("session_ended"), time.time() + 60
    obedient.show(Snapshot(state="failed", error=error, retry_at=retry_at, engine_pid=4242, borrowings=(1,)))
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
    assert not engine.received(GiveBack)


def test_an_engine_that_vanishes_is_told(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    obedient.stop()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 1
    assert err == "idlehive: The engine has ended and no longer contributes.\n"


def test_a_reader_that_has_had_enough_stops_contributing(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute")
    wait_for_line(process, "Contributing to Bees")
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    obedient.tell(Event("epoch_done", Message("epoch_done"), NOW, epoch=18, loss=4.2))
    obedient.wait_for(GiveBack)
    assert process.stderr.read() == ""
    assert process.wait(20) == 1


@pytest.mark.parametrize(
    ("borrowings", "goals", "stop", "outcome"),
    [
        ((3,), (), False, None),
        ((3,), (), True, Outcome.STOPPED),
        ((4, 3), (), False, None),
        ((), (3,), False, Outcome.REACHED),
        ((), (4,), False, Outcome.STOPPED),
        ((4,), (), False, Outcome.STOPPED),
    ],
)
def test_the_end_is_judged_by_the_engine(
    borrowings: tuple[int, ...], goals: tuple[int, ...], stop: bool, outcome: Outcome | None
) -> None:
    assert judge(replace(active(), borrowings=borrowings, goals=goals), 3, stop) is outcome


def test_what_another_one_fails_at_is_no_end_of_this_one() -> None:
    failed = replace(active(), reasons=(GAVE_UP,), borrowings=(4, 3))
    assert (judge(failed, 4, False), judge(failed, 3, False)) == (Outcome.FAILED, None)


def test_one_that_another_one_overtakes_says_so_and_goes_on(obedient: ScriptedEngine, start_cli: StartCli) -> None:
    process = start_cli("contribute", "--until-epoch", "19")
    wait_for_line(process, "Contributing to Bees")
    obedient.show(replace(active(), borrowings=(2, 1)))
    wait_for_line(process, "Another `idlehive contribute` goes first; this one continues when it has ended.")
    obedient.show(replace(active(), borrowings=(1,), goals=(2,)))
    wait_for_line(process, "It goes on here.")
    obedient.show(AFTER)
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_one_that_overtakes_another_one_says_so_and_leaves_it_contributing(
    engine: ScriptedEngine, start_cli: StartCli
) -> None:
    engine.show(replace(active(), borrowings=(2,)))

    def contribute(_: Contribute) -> int:
        engine.show(replace(active(), borrowings=(3, 2)))
        return 3

    engine.answer(Contribute, contribute)
    engine.answer(GiveBack, lambda _: engine.show(replace(active(), borrowings=(2,))))
    process = start_cli("contribute", "whales")
    wait_for_line(process, "Another `idlehive contribute` waits until this one has ended.")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert "continues to contribute, as before" in out
    assert engine.received(GiveBack) == [GiveBack(3)]

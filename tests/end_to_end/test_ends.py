"""Every way in which a training session or a backbone can end, with the real trainer: nothing may be left of it."""

import os
import signal
import time
from types import NoneType
from typing import Any

import psutil
import pytest

from core.api.protocol import GetSnapshot, Quit
from core.api.snapshot import Progress, Snapshot
from core.client.engine_client import EngineClient
from tests.end_to_end.machine import Machine, Participant, Program, wait_for
from tests.end_to_end.projects import project
from tests.fakes.http_server import closed_port

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]


def contribute(volunteer: Participant) -> tuple[Program, dict[str, Any]]:
    """The practice project, trained by engine, trainer, backbone and companion."""
    volunteer.shares_the_processor()
    program = volunteer.start("contribute", "practice")
    return program, volunteer.until("contributing")


def host(machine: Machine) -> Program:
    where = ("--http", "127.0.0.1:0", "--state", str(machine.folder / "state"))
    program = machine.profile("organiser").start("host", str(project(machine.folder)), *where)
    wait_for(lambda: "Serving" in program.said(), 60.0, "the backbone serves")
    return program


def test_quit_ends_everything(machine: Machine) -> None:
    ann = machine.profile("ann")
    program, _ = contribute(ann)
    assert len(machine.members()) > 10
    assert ann.run("quit").returncode == 0
    assert program.end() == 1
    assert program.complained() == "idlehive: The engine has ended and no longer contributes.\n"
    machine.wait_until_nothing_is_left()


@pytest.mark.parametrize("moment", ["starting", "contributing", "after an update"])
def test_quit_takes_two_seconds_at_most(machine: Machine, moment: str) -> None:
    """While libraries load, while the companion's do, and in a group whose round begins at the end of the epoch."""
    ann = machine.profile("ann")
    assert ann.run("limits", "set", "busy_processor", "0").returncode == 0
    program = ann.start("contribute", "practice")
    ann.until("starting" if moment == "starting" else "contributing")
    with EngineClient.connect(ann.home) as engine:
        # Not by commands: their own load would make a session stand back.
        if moment == "after an update":
            wait_for(lambda: _is_within_an_epoch(_progress(engine)), 90.0, "the second epoch")
        began = time.monotonic()
        engine.request(Quit(), NoneType)
    machine.wait_until_nothing_is_left(began + 2.0 - time.monotonic())
    assert program.end() == 1


def _progress(engine: EngineClient) -> Progress:
    return engine.request(GetSnapshot(), Snapshot).progress


def _is_within_an_epoch(progress: Progress) -> bool:
    return progress.epoch >= 1 and 0.2 < progress.epoch_samples / progress.target_batch_size < 0.5


def test_sigterm_to_the_engine_ends_everything(machine: Machine) -> None:
    program, status = contribute(machine.profile("ann"))
    machine.members()
    os.kill(status["engine_pid"], signal.SIGTERM)
    assert program.end() == 1
    machine.wait_until_nothing_is_left(15.0)


def test_a_killed_engine_leaves_nothing_and_the_next_one_starts(machine: Machine) -> None:
    ann = machine.profile("ann")
    program, status = contribute(ann)
    machine.members()
    os.kill(status["engine_pid"], signal.SIGKILL)
    assert program.end() == 1
    # Nobody was left to remove the engine's own socket; the next engine does.
    machine.wait_until_nothing_is_left(15.0, but=(ann.home.socket,))
    assert ann.run("pause").returncode == 0
    assert ann.status()["engine_pid"] == 0
    machine.wait_until_nothing_is_left()


def test_a_killed_trainer_is_reported_cleared_away_and_started_again(machine: Machine) -> None:
    ann = machine.profile("ann")
    program, status = contribute(ann)
    trainer = status["session"]["pid"]
    its_own = [process for process in machine.members() if _session_of(process) == _session_of(psutil.Process(trainer))]
    assert len(its_own) >= 5
    os.kill(trainer, signal.SIGKILL)
    failed = ann.until("failed", 5.0)
    assert failed["error"] == "The session's process was ended from outside (SIGKILL)."
    assert failed["retry_at"] is not None
    assert [process for process in its_own if process.is_running()] == []
    again = ann.until("contributing")
    assert again["session"]["pid"] != trainer
    assert again["error"] is None
    program.process.send_signal(signal.SIGINT)
    assert program.end() == 0
    machine.wait_until_nothing_is_left()


def _session_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("IDLEHIVE_SESSION")
    except psutil.Error:
        return None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_backbone_politely(machine: Machine, number: signal.Signals) -> None:
    program = host(machine)
    assert len(machine.members()) >= 5
    program.process.send_signal(number)
    assert program.end() == 0
    machine.wait_until_nothing_is_left()


def test_a_killed_backbone_leaves_nothing(machine: Machine) -> None:
    program = host(machine)
    machine.members()
    program.process.kill()
    machine.wait_until_nothing_is_left(15.0)


@pytest.mark.parametrize("numbers", [(0,), (1,), (2,), (1, 2), (3,), (4,), (5,), (6,)])
def test_every_process_of_a_backbone_may_be_killed(machine: Machine, numbers: tuple[int, ...]) -> None:
    """Two subreapers, the process that serves, its DHT, two averagers, the daemon: whichever a person finds in a list,
    the others end and nothing is left."""
    program = host(machine)
    members = psutil.Process(program.process.pid).children(recursive=True)
    assert len(members) == 7
    for number in numbers:
        members[number].kill()
    assert program.end() != 0
    machine.wait_until_nothing_is_left(15.0)


def test_a_backbone_whose_subreapers_are_both_killed_runs_no_more(machine: Machine) -> None:
    program = host(machine)
    kill_at_once([psutil.Process(program.process.pid), *subreapers(machine)])
    wait_for(lambda: machine.members() == [], 10.0, "nothing runs")


def test_a_session_whose_engine_and_subreapers_are_all_killed_runs_no_more(machine: Machine) -> None:
    """The practice project's trainer, backbone and companion."""
    program, status = contribute(machine.profile("ann"))
    kill_at_once([psutil.Process(status["engine_pid"]), *subreapers(machine)])
    assert program.end() == 1
    wait_for(lambda: machine.members() == [], 10.0, "nothing runs")


def subreapers(machine: Machine) -> list[psutil.Process]:
    return [process for process in machine.members() if "core.system.subreaper" in process.cmdline()[:4]]


def kill_at_once(processes: list[psutil.Process]) -> None:
    """Stopped first, so that none cleans up after another one."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for process in processes:
            process.send_signal(number)


def test_a_backbone_starts_again_where_it_was_killed(machine: Machine) -> None:
    port = closed_port()
    description = project(machine.folder)
    where = ("--http", f"127.0.0.1:{port}", "--state", str(machine.folder / "state"))
    for _ in range(2):
        program = machine.profile("organiser").start("host", str(description), *where)
        wait_for(lambda p=program: "Serving" in p.said(), 60.0, "the backbone serves")  # type: ignore[misc]
        machine.members()
        program.process.kill()
        machine.wait_until_nothing_is_left(15.0)

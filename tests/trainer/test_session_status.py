"""A session and its status: complete from the start, and written in one place."""

from types import NoneType, SimpleNamespace
from typing import Any, get_args, get_type_hints

import pytest

from core.api.session import Report, Stage
from core.api.snapshot import CatchUp, Progress, Reachability, Transfer
from core.swarm.traffic.link import Link
from core.trainer.counters import SessionCounters
from core.trainer.session import Session
from core.trainer.session_status import BeforeJoining, Joined, Measurements, SessionStatus, Situation


def status_of(run: Any) -> SessionStatus:
    return SessionStatus(Measurements(Link()), run, "joining")


class Run(BeforeJoining):
    """A run that needs some bandwidth."""

    min_bandwidth = 4_000

    def progress(self, _counters: SessionCounters, samples: int) -> Progress:
        return Progress(epoch=3, samples=samples, samples_per_second=46.4, swarm_samples_per_second=120.0)


@pytest.mark.parametrize("part", [Session, Joined.__init__])
def test_no_part_of_a_session_is_missing_for_a_while(part: Any) -> None:
    hints = get_type_hints(part)
    assert hints
    assert [name for name, hint in hints.items() if name != "return" and NoneType in get_args(hint)] == []


def test_a_situation_replaces_the_one_before_it_as_a_whole() -> None:
    status = status_of(Run(64))

    def shown() -> Situation:
        report = status.report()
        return Situation(report.stage, report.transfer, report.catching_up, report.cut_off)

    for entered in (
        Situation("syncing", catching_up=CatchUp(3, 5)),
        Situation("joining", cut_off=True),
        Situation("holding"),
        Situation("preparing", transfer=Transfer(1, 2)),
        Situation("contributing"),
    ):
        status.enter(entered.stage, transfer=entered.transfer, catching_up=entered.catching_up, cut_off=entered.cut_off)
        assert shown() == entered


def test_nothing_outside_can_change_a_part_of_the_status() -> None:
    status = status_of(Run(64))
    public = {name for name in dir(status) if not name.startswith("_")}
    assert public == {"enter", "report"}


def test_a_report_has_what_is_measured_and_what_the_run_says() -> None:
    measurements = Measurements(Link())
    measurements.counters.add_microbatch(16, 2.5)
    report = SessionStatus(measurements, Run(64), "contributing").report()
    assert (report.progress.epoch, report.progress.samples) == (3, 16)
    assert report.min_bandwidth == 4_000


@pytest.mark.parametrize("stage", get_args(Stage))
def test_this_computer_has_a_speed_only_while_it_computes(stage: Stage) -> None:
    progress = SessionStatus(Measurements(Link()), Run(64), stage).report().progress
    assert progress.samples_per_second == (46.4 if stage == "contributing" else 0.0)
    assert progress.swarm_samples_per_second == 120.0


def test_before_joining_a_report_knows_the_target_alone() -> None:
    report: Report = status_of(BeforeJoining(384)).report()
    assert report.progress == Progress(target_batch_size=384)
    assert (report.counters.samples, report.min_bandwidth) == (0, 0)


@pytest.mark.parametrize(
    ("found", "client_mode", "has_lost"),
    [
        ("router", False, False),
        ("blocked", False, True),
        ("no_mapping", False, True),
        ("second_router", False, True),
        ("blocked", True, False),
        (None, False, False),
    ],
)
def test_only_a_peer_that_others_try_to_call_can_lose_its_port(
    found: Reachability | None, client_mode: bool, has_lost: bool
) -> None:
    optimizer: Any = SimpleNamespace(client_mode=client_mode)
    assert Joined(optimizer, 96, 0, lambda: found).has_lost_its_port is has_lost

"""Volunteers whose routers let nobody call them, and a backbone in the open: they train together from the start."""

import re
import shutil
import sqlite3
import time
from contextlib import closing
from functools import partial

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.organiser import Organiser
from tests.network.lineups.homes import homes, vpn
from tests.network.lineups.sessions import organiser_on, published_by, volunteer_on
from tests.network.namespaces import Host

WITHIN = 60.0
"""Seconds that a volunteer may need, from the command to the second epoch."""
SURVIVED_WITHIN = 40.0
"""Seconds from a change of the network until two more epochs are done."""

pytestmark = pytest.mark.timeout(400)


def test_volunteers_whom_nobody_can_call_train_together_leave_and_go_on_where_they_were(machine: Machine) -> None:
    with homes(2) as (far, both):
        organiser = organiser_on(far, machine)
        volunteers = [volunteer_on(home.computer, machine) for home in both]
        print("epoch 2 after", *contribute(volunteers, organiser, 2), "s")
        wait_for(lambda: all(each.progress()["peers"] == 2 for each in volunteers), 30.0, "each sees the other")
        assert errors(volunteers) == []
        for volunteer in volunteers:
            assert volunteer.run("quit").returncode == 0

        first = [epochs_done(volunteer) for volunteer in volunteers]
        last = max(map(max, first))
        # The backbone makes the last update at the same time as they do, and says so a moment later.
        wait_for(lambda: epoch_of_the_backbone(far, organiser) >= last, 20.0, f"the backbone has epoch {last}")
        reached = epoch_of_the_backbone(far, organiser)
        for volunteer in volunteers:
            # Nobody but the backbone has the state.
            shutil.rmtree(volunteer.home.copies)
            shutil.rmtree(volunteer.home.logs)
        print("again after", *contribute(volunteers, organiser, reached + 1), f"s, from epoch {reached} on")
        for volunteer, before in zip(volunteers, first, strict=True):
            done = [*before, *epochs_done(volunteer)]
            assert done == sorted(set(done)), "an update was made twice"
            assert volunteer.run("quit").returncode == 0


def test_a_session_survives_that_its_computer_moves_to_another_network(machine: Machine) -> None:
    with homes(3) as (far, (before, other, after)):
        organiser = organiser_on(far, machine)
        ann, ben = (volunteer_on(home.computer, machine) for home in (before, other))
        contribute([ann, ben], organiser, 2)
        session, reached = ann.status()["session"], ann.progress()["epoch"]
        after.take(before.computer)
        began = time.monotonic()
        wait_for(partial(contributes, ann, reached + 2), SURVIVED_WITHIN, "two more epochs")
        print(f"two epochs {time.monotonic() - began:.1f} s after the change, the other in {ben.progress()['epoch']}")
        assert ann.status()["session"] == session
        wait_for(lambda: ann.progress()["peers"] == 2, 10.0, "the moved volunteer sees the backbone and the other one")
        for volunteer in (ann, ben):
            assert volunteer.run("quit").returncode == 0


def test_a_session_survives_that_a_vpn_begins_and_ends(machine: Machine) -> None:
    with homes(3) as (far, (here, other, provider)):
        organiser = organiser_on(far, machine)
        ann, ben = (volunteer_on(home.computer, machine) for home in (here, other))
        contribute([ann, ben], organiser, 2)
        session = ann.status()["session"]
        with vpn(here.computer, provider.router):
            goes_on_soon(ann, "the VPN began")
        goes_on_soon(ann, "the VPN ended")
        assert ann.status()["session"] == session
        for volunteer in (ann, ben):
            assert volunteer.run("quit").returncode == 0


def goes_on_soon(volunteer: Participant, after: str) -> None:
    """Two more epochs; the first one may have been complete before the change."""
    reached, began = volunteer.progress()["epoch"], time.monotonic()
    wait_for(partial(contributes, volunteer, reached + 2), SURVIVED_WITHIN, f"two epochs after {after}")
    print(f"two epochs {time.monotonic() - began:.1f} s after {after}")


def contribute(volunteers: list[Participant], organiser: Organiser, epoch: int) -> list[float]:
    """Seconds until each of them contributes in `epoch` or a later one."""
    begin, needed = time.monotonic(), list[float]()
    for volunteer in volunteers:
        volunteer.start("contribute", organiser.url)
    for volunteer in volunteers:
        wait_for(partial(contributes, volunteer, epoch), begin + WITHIN - time.monotonic(), f"epoch {epoch}")
        needed.append(round(time.monotonic() - begin, 1))
    return needed


def contributes(volunteer: Participant, epoch: int) -> bool:
    status = volunteer.status()
    assert status["error"] is None
    return bool(status["state"] == "contributing" and status["progress"]["epoch"] >= epoch)


def errors(volunteers: list[Participant]) -> list[str]:
    """What they were told went wrong, and every error in their logs. A round that was repeated is none."""
    logs = [file.read_text() for volunteer in volunteers for file in volunteer.home.logs.iterdir()]
    found = [line for log in logs for line in log.splitlines() if re.search("ERROR|Traceback", line)]
    for volunteer in volunteers:
        with closing(sqlite3.connect(volunteer.home.database)) as database:
            told = "SELECT message FROM notice WHERE kind IN ('warning', 'session_failed')"
            found += [message for (message,) in database.execute(told)]
    return found


def epochs_done(volunteer: Participant) -> list[int]:
    """Those whose updates it made itself, in the order of its log."""
    log = (volunteer.home.logs / "trainer.log").read_text()
    return [int(number) for number in re.findall(r"epoch (\d+): \d+ own samples", log)]


def epoch_of_the_backbone(far: Host, organiser: Organiser) -> int:
    return int(published_by(far, organiser, "health.json")["epoch"])

"""Backbones may be away: one of two is enough, and without any those who know each other go on."""

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.end_to_end.organiser import Organiser

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STARTS_WITHIN = 300.0
"""Seconds for a session on a busy computer: most of it is loading libraries."""


def epoch(volunteer: Participant) -> int:
    number: int = volunteer.progress()["epoch"]
    return number


def goes_on(volunteer: Participant, epochs: int = 3) -> int:
    """The epoch after some more that this volunteer has taken part in."""
    target = epoch(volunteer) + epochs
    return wait_for(lambda: now if (now := epoch(volunteer)) >= target else 0, 120.0, f"epoch {target}")


def knows(volunteer: Participant, peers: int) -> None:
    wait_for(lambda: volunteer.progress()["peers"] == peers, 60.0, f"{peers} peers")


def test_backbones_may_be_away(machine: Machine) -> None:
    north = Organiser(machine, "north")
    first = north.start()
    identity = north.address()
    south = Organiser(machine, "south", [identity])
    second = south.start()
    assert south.read("manifest.json")["initial_peers"] == [south.address(), identity]

    # Both are named in the manifest; one is gone before anybody has come.
    first.process.kill()
    ann, ben, cal = (machine.profile(name) for name in ("ann", "ben", "cal"))
    ann.start("contribute", south.url)
    ann.until("contributing", STARTS_WITHIN)
    goes_on(ann)

    # It comes back as the one it was, and the other is gone.
    third = north.start()
    assert north.address() == identity
    second.process.kill()
    ben.start("contribute", north.url)
    assert cal.run("projects", "add", north.url).returncode == 0
    ben.until("contributing", STARTS_WITHIN)
    for volunteer in (ann, ben):
        knows(volunteer, 2)
        goes_on(volunteer)
    wait_for(lambda: north.read("checkpoints/latest.json")["epoch"] >= 2, 60.0, "a checkpoint")

    # Then both are: those who know each other go on, a newcomer waits and is told why.
    third.process.kill()
    # It has some seconds for its end, in which a newcomer may fetch all that it needs.
    wait_for(lambda: not any("core.host" in entry for entry in machine.left_over()), 60.0, "its end")
    cal.start("contribute", "shakespeare")
    waiting = cal.until("failed", STARTS_WITHIN)
    assert "the server cannot be reached" in waiting["error"]
    assert waiting["retry_at"] is not None
    for volunteer in (ann, ben):
        goes_on(volunteer, 5)
        knows(volunteer, 2)
    reached = epoch(ben)

    # It goes on where its last checkpoint is, and whoever waited comes in by itself.
    again = north.start()
    assert north.address() == identity
    assert "Continued from the checkpoint of epoch" in again.said()
    cal.until("contributing", 300.0)
    wait_for(lambda: epoch(cal) >= reached, 60.0, "the newcomer is where the others are")
    for volunteer in (ann, ben, cal):
        assert volunteer.run("quit").returncode == 0
    again.process.terminate()
    assert again.end() == 0
    machine.wait_until_nothing_is_left()

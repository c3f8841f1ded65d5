"""Whole sessions whose line is cut: they stop, say why, keep what can still count, and come back by themselves."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.network.lineups.sessions import PORT, organiser_on, volunteer_on
from tests.network.namespaces import Host, hosts

pytestmark = pytest.mark.timeout(600)


@dataclass
class Volunteer:
    """On a computer of their own."""

    profile: Participant
    host: Host

    def until_cut_off(self) -> dict[str, Any]:
        def told() -> dict[str, Any]:
            status = self.profile.status()
            return status if [reason for reason in status["reasons"] if reason["kind"] == "offline"] else {}

        return wait_for(told, 120.0, "it is offline")

    def reaches(self, epoch: int, seconds: float = 90.0) -> dict[str, Any]:
        def reached() -> dict[str, Any]:
            status = self.profile.status()
            there = status["state"] == "contributing" and status["progress"]["epoch"] >= epoch
            return status if there else {}

        return wait_for(reached, seconds, f"epoch {epoch}")


def test_a_session_whose_line_is_cut_stops_says_so_and_comes_back(machine: Machine) -> None:
    with hosts(3) as (far, here, there):
        organiser = organiser_on(far, machine)
        ann, ben = (Volunteer(volunteer_on(host, machine, listen_port=PORT), host) for host in (here, there))
        ann.profile.start("contribute", organiser.url)
        first = ann.reaches(3, 150.0)

        # Alone with the backbone, for less than a minute: the same session goes on.
        ann.host.line("down")
        cut = ann.until_cut_off()
        assert cut["state"] == "syncing"
        assert not goes_on(ann, cut)
        ann.host.line("up")
        back = ann.reaches(cut["progress"]["epoch"] + 1)
        assert back["session"] == first["session"]

        # With others in the run: they go on without her, and she is nowhere until she is where they are.
        ben.profile.start("contribute", organiser.url)
        ben.reaches(ann.profile.progress()["epoch"] + 1, 150.0)
        wait_for(lambda: ann.profile.progress()["peers"] == 2, 60.0, "two peers")
        ann.host.line("down")
        cut = ann.until_cut_off()
        began = ben.profile.progress()["epoch"]
        assert not goes_on(ann, cut)
        ben.reaches(began + 2)

        # So long that the session gives up; the next ones wait until there is somebody.
        failed = ann.profile.until("failed", 150.0)
        assert failed["retry_at"] is not None
        ann.host.line("up")
        reached = ben.profile.progress()["epoch"]
        again = ann.reaches(reached, 150.0)
        assert again["session"] != first["session"]
        for volunteer in (ann, ben):
            assert volunteer.profile.run("quit").returncode == 0


def goes_on(volunteer: Volunteer, cut: dict[str, Any]) -> bool:
    """Whether it still computes or steps, seen over a while."""
    status = [volunteer.profile.status() for _ in range(6)][-1]
    assert status["state"] == "syncing"
    return bool(
        status["progress"]["samples"] > cut["progress"]["samples"]
        or status["progress"]["epoch"] > cut["progress"]["epoch"]
    )

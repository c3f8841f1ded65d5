"""Volunteers behind real routers: one maps a port when asked, others do not; each session says how it is reached."""

import subprocess
import time
from contextlib import ExitStack

import pytest

from tests.end_to_end.machine import Machine, Participant, wait_for
from tests.network.lineups.homes import Home, homes, mapped_ports, mapping_service
from tests.network.lineups.sessions import PORT, organiser_on, volunteer_on

LEASE = 60.0
"""Seconds for which the daemon asks; it renews three times as often."""

pytestmark = pytest.mark.timeout(500)


def test_a_mapped_port_is_used_said_and_withdrawn(machine: Machine) -> None:
    with homes(2) as (far, (mapping, closed)), ExitStack() as opened:
        opened.enter_context(mapping_service(mapping.router, machine.folder))
        organiser = organiser_on(far, machine)
        ann, ben = (volunteer_on(home.computer, machine, port_mapping="yes") for home in (mapping, closed))
        for one in (ann, ben):
            one.start("contribute", organiser.url)
        assert reachability(ann) == "router"
        assert reachability(ben) == "no_mapping"
        [(port, place)] = mapped_ports(mapping.router).items()
        assert place.startswith(mapping.computer.address)
        wait_for(lambda: all(one.progress()["epoch"] >= 2 for one in (ann, ben)), 60.0, "both contribute")
        assert f"{mapping.router.address}:{port}" in connections(closed)
        print(ann.run("status").stdout, ann.run("doctor").stdout, ben.run("doctor").stdout)

        assert ann.run("quit").returncode == 0
        assert mapped_ports(mapping.router) == {}

        # A second time, ended by force: nobody is left who could withdraw it.
        ann.start("contribute", organiser.url)
        assert reachability(ann) == "router"
        killed = time.monotonic()
        for process in machine.members():
            if process.environ()["IDLEHIVE_HOME"] == str(ann.home.path):
                process.kill()
        wait_for(lambda: not mapped_ports(mapping.router), LEASE + 10.0, "the router forgets it")
        print(f"forgotten {time.monotonic() - killed:.0f} s after kill -9")


def test_calls_that_do_not_arrive_are_noticed_and_the_peer_only_calls_out(machine: Machine) -> None:
    with homes(1) as (far, (closed,)):
        organiser = organiser_on(far, machine)
        ann = volunteer_on(closed.computer, machine, listen_port=PORT)
        ann.start("contribute", organiser.url)
        assert reachability(ann) == "blocked"
        wait_for(lambda: ann.progress()["epoch"] >= 1, 60.0, "it contributes")
        said = ann.run("doctor").stdout
        print(said)
        assert PORT in said


def reachability(of: Participant) -> str:
    """Once it is known."""
    return wait_for(lambda: str(of.status()["reachability"] or ""), 90.0, "it is known who can call")


def connections(home: Home) -> list[str]:
    """The other ends of those that are established there."""
    shown = subprocess.run(
        home.computer.command("ss", "-Htn", "state", "established"), capture_output=True, text=True, check=True
    ).stdout
    return [line.split()[-1] for line in shown.splitlines()]

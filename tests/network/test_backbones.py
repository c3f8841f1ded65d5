"""Backbones that reduce for two volunteers whom nobody can call: two share the work, and one keeps to its ceiling."""

import sys
import time
from contextlib import ExitStack

import pytest

from tests.end_to_end.machine import Machine, wait_for
from tests.end_to_end.organiser import Organiser
from tests.network import interface_log as log_module
from tests.network.interface_log import Direction, InterfaceLog, carried, interface_log, mean_rate, worst_window
from tests.network.lineups.sessions import published_by, volunteer_on
from tests.network.namespaces import INTERFACE, Host, hosts

EPOCHS = 5
WITHIN = 240.0
"""Seconds for some epochs on a busy computer."""
LEAST_SHARE = 0.4
"""Of what both backbones receive; what is beside the averaging is not shared evenly."""
CEILING, MOST = 200_000, 1.03
"""Bytes per second, and how much of that may be used in any ten seconds."""
SECONDS = 30.0

pytestmark = pytest.mark.timeout(900)


def test_two_backbones_share_the_work_and_one_of_them_can_go(machine: Machine) -> None:
    with hosts(4) as (first, second, *homes), ExitStack() as opened:
        north = Organiser(machine, "north", at=first.command(), address=first.address)
        gone = north.start()
        address = published_by(first, north, "manifest.json")["initial_peers"]
        south = Organiser(machine, "south", address, at=second.command(), address=second.address)
        south.start()
        logs = [log_of(host, machine, opened) for host in (first, second)]
        volunteers = [volunteer_on(host, machine) for host in homes]
        for volunteer in volunteers:
            volunteer.start("contribute", south.url)

        def reach(epoch: int) -> None:
            wait_for(lambda: all(one.progress()["epoch"] >= epoch for one in volunteers), WITHIN, f"epoch {epoch}")

        reach(2)
        begin, epoch = time.monotonic(), volunteers[0].progress()["epoch"]
        reach(epoch + EPOCHS)
        end = time.monotonic()
        received = [carried(log.around(begin, end), "down") for log in logs]
        sent = [carried(log.around(begin, end), "up") for log in logs]
        print(f"{EPOCHS} epochs, {end - begin:.0f} s: received {received} bytes, sent {sent}")
        assert min(received) > LEAST_SHARE * sum(received)
        assert min(sent) > LEAST_SHARE * sum(sent)

        gone.process.kill()
        reach(volunteers[0].progress()["epoch"] + 2)


@pytest.mark.parametrize(("limit", "direction"), [("upload_limit", "up"), ("download_limit", "down")])
def test_a_backbones_ceiling_holds_while_it_reduces_for_all(machine: Machine, limit: str, direction: Direction) -> None:
    with hosts(3) as (far, *homes), ExitStack() as opened:
        organiser = Organiser(machine, "organiser", at=far.command(), address=far.address)
        text = organiser.description.read_text()
        organiser.description.write_text(text.replace("[host]", f"[host]\n{limit} = {CEILING}", 1))
        organiser.start()
        log = log_of(far, machine, opened)
        volunteers = [volunteer_on(host, machine) for host in homes]
        for volunteer in volunteers:
            volunteer.start("contribute", organiser.url)
        wait_for(lambda: all(one.progress()["epoch"] >= 2 for one in volunteers), WITHIN, "epoch 2")
        begin = time.monotonic()
        time.sleep(SECONDS)  # the time that is measured
        readings = log.around(begin, time.monotonic())
        worst, mean = (rate / CEILING for rate in (worst_window(readings, direction), mean_rate(readings, direction)))
        print(f"{worst:.3f} of the ceiling in the busiest ten seconds, {mean:.3f} on average")
        assert worst <= MOST
        assert mean > MOST / 2, "the ceiling was not what the rounds waited for"


def log_of(host: Host, machine: Machine, opened: ExitStack) -> InterfaceLog:
    script = host.command(sys.executable, log_module.__file__, INTERFACE)
    return opened.enter_context(interface_log(script, machine.folder / f"interface-{host.namespace}"))

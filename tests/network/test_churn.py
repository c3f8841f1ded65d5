"""Peers that leave, are killed, are stopped for a while and cut off: the run goes on, and all agree at the end."""

import time
from collections.abc import Callable

import pytest

from tests.network.lineups.churn import run
from tests.network.namespaces import ISLAND, SWITCH
from tests.network.peers.churn_peer import TIMEOUT

pytestmark = pytest.mark.timeout(400)


def test_a_run_outlives_the_coming_and_going_of_its_peers() -> None:
    with run(seed=5) as churn:
        churn.reach(3, 120.0)
        churn.disturb(45.0, every=6.0, away=(8.0, 16.0))
        epoch, digest = churn.agreed(90.0)
        gaps, losses, forks = churn.gaps(), churn.losses(), churn.forks()
        rounds, idle = churn.rounds(), churn.idle()
    print(churn.disturbed, f"agreed on {digest} in epoch {epoch}; forks {forks}; longest of each, in seconds:")
    print(f"{max(gaps):.1f} between updates, {max(rounds):.1f} for a round, {max(idle):.1f} with nothing added")
    print(sorted(rounds)[-6:], sorted(idle)[-6:])
    assert max(*rounds, *idle) <= TIMEOUT
    assert losses[max(losses)] < 0.8 * losses[min(losses)]


def test_two_halves_that_lost_each_other_are_one_run_again() -> None:
    with run(seed=6) as churn:
        churn.reach(2, 120.0)
        half = churn.volunteers[2:]
        for volunteer in half:
            volunteer.host.plug_into(ISLAND)
        _until_forked(churn.forks, 90.0)
        for volunteer in half:
            volunteer.host.plug_into(SWITCH)
        epoch, _digest = churn.agreed(120.0)
        assert epoch not in churn.forks()


def _until_forked(forks: Callable[[], list[int]], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not forks():
        assert time.monotonic() < deadline, "the halves did not go on apart"
        time.sleep(0.2)

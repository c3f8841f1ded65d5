"""A real run beside an attacker that is ahead with random parameters: nobody takes them, and the run goes on."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.network.peers.churn_peer import AUXILIARY
from tests.swarm.averaging.peers.small_peer import Peer
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def attack(folder: Path, address: str, ahead: int, opened: ExitStack) -> list[int]:
    """The epochs that are offered, as the attacker says them."""
    folder.mkdir()
    subreaper = [sys.executable, "-m", "core.system.subreaper", str(folder / "subreaper"), "--"]
    process = subprocess.Popen(
        [*subreaper, sys.executable, "-m", "tests.swarm.hostile_donor", str(folder), address, str(ahead)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=opened.enter_context((folder / "log").open("wb")),
        text=True,
    )
    opened.callback(process.communicate, timeout=60)
    offered: list[int] = []

    def listen() -> None:
        assert process.stdout is not None
        offered.extend(map(int, process.stdout))

    threading.Thread(target=listen, daemon=True).start()
    return offered


def loss(peer: Peer) -> float:
    """Of the last epochs."""
    known = [update["loss"] for _, update in sorted(peer.updates.items()) if update.get("loss") is not None]
    return float(sum(known[-3:]) / len(known[-3:]))


@pytest.mark.parametrize("ahead", [1, 2])
def test_the_run_goes_on_beside_a_donor_of_random_parameters_and_a_newcomer_gets_the_runs(
    short_folder: Path, opened: ExitStack, capsys: pytest.CaptureFixture[str], ahead: int
) -> None:
    backbone = Peer(short_folder, "backbone", AUXILIARY, listens=True)
    opened.callback(backbone.leave)
    volunteers = [Peer(short_folder, f"volunteer{n}", 0.05, backbone.address, listens=True) for n in range(2)]
    for volunteer in volunteers:
        opened.callback(volunteer.leave)
    for volunteer in volunteers:
        volunteer.until(6)
    before = loss(volunteers[0])
    offered = attack(short_folder / "hostile", backbone.address, ahead, opened)
    wait_for(lambda: offered, 120.0, "the attacker offers its state")
    begun = max(volunteers[0].updates)
    newcomer = Peer(short_folder, "newcomer", 0.05, backbone.address, listens=True)
    opened.callback(newcomer.leave)
    for peer in (*volunteers, newcomer):
        peer.until(begun + 8, 200.0)
    everybody = [backbone, *volunteers, newcomer]
    with capsys.disabled():
        print(f"\nloss {before:.4f} before, {[round(loss(peer), 4) for peer in everybody[1:]]} after,", end=" ")
        print(f"epochs {begun} to {max(volunteers[0].updates)}, {len(offered)} offers", end=" ")
    together = [epoch for epoch in newcomer.updates if all(epoch in peer.updates for peer in everybody)]
    assert together
    for epoch in together:
        assert len({peer.updates[epoch]["digest"] for peer in everybody}) == 1
    for peer in everybody[1:]:
        assert loss(peer) < 1.2 * before

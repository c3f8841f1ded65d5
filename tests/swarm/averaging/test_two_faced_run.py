"""A whole run with a trainer that gives one of the others other averages than the rest: the run stays one."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.swarm.dht.peer import LOOPBACK
from tests.network.peers.churn_peer import AUXILIARY
from tests.swarm.averaging.peers.small_peer import Peer, Process
from tests.waiting import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

EPOCHS = 4
"""That are made under attack."""


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_all_come_back_to_one_state_after_a_reducer_gave_one_of_them_another_average(
    short_folder: Path, opened: ExitStack
) -> None:
    attack = short_folder / "attack"
    backbone = Peer(short_folder, "backbone", AUXILIARY, listens=True)
    opened.callback(backbone.leave)
    volunteers = [Peer(short_folder, f"honest{number}", 0.05, backbone.address, listens=True) for number in range(2)]
    given = [str(attack), "two faces", str(short_folder), "hostile", LOOPBACK, "0.05", backbone.address]
    hostile = Process(short_folder, "hostile", "tests.network.peers.hostile_member", given)
    for trainer in (*volunteers, hostile):
        opened.callback(trainer.leave)
    honest = [backbone, *volunteers]
    wait_for(lambda: all(max(peer.updates, default=0) >= 3 for peer in (*honest, hostile)), 150.0, "it has begun")

    def digests() -> dict[int, set[str]]:
        common = set.intersection(*(set(peer.updates) for peer in honest))
        return {epoch: {peer.updates[epoch]["digest"] for peer in honest} for epoch in sorted(common)}

    attack.touch()
    began = max(max(peer.updates) for peer in volunteers)
    wait_for(lambda: max(max(peer.updates) for peer in volunteers) >= began + EPOCHS, 100.0, "updates under attack")
    assert any(len(different) > 1 for different in digests().values()), "one of them was deceived"
    attack.unlink()
    ended = max(max(peer.updates) for peer in volunteers)

    def are_one() -> bool:
        return any(epoch > ended + 2 and len(same) == 1 for epoch, same in digests().items())

    wait_for(are_one, 100.0, "all have one state")

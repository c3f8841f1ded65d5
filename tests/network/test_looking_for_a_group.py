"""What peers send and receive while they look for a group that does not come, at the network interface."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.network.interface_log import carried, mean_rate
from tests.network.lineups.swarm import RemotePeer, swarm

SETTLING, SECONDS = 5.0, 30.0
"""To connect and find the first ones, and to look in vain."""
MOST = 3_000
"""Bytes per second, each way."""
COUNTED_WITHIN = 0.03
"""Of what the interface carried."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def peers() -> Iterator[list[RemotePeer]]:
    """A backbone and two that expect each other, of which each looks under an epoch of its own."""
    folder = Path(tempfile.mkdtemp(prefix="hive"))
    try:
        with swarm(folder, [True, True, True], module="searching_peer") as found:
            _, *searching = found
            for number, peer in enumerate(searching):
                peer.begin("expect", [other.address for other in searching if other is not peer])
                peer.begin("search", 1 + number)
            time.sleep(SETTLING)  # what is not measured
            yield found
    finally:
        shutil.rmtree(folder)


def test_who_looks_in_vain_sends_and_receives_little_and_every_byte_of_it_is_counted(peers: list[RemotePeer]) -> None:
    before = [peer.ask("carried") for peer in peers]
    time.sleep(SECONDS)  # the time that is measured
    for peer, (begin, *then) in zip(peers, before, strict=True):
        end, *now = peer.ask("carried")
        log = peer.interface.around(begin, end)
        counted = [later - earlier for earlier, later in zip(then, now, strict=True)]
        seen = [carried(log, "up"), carried(log, "down")]
        print(f"in {end - begin:.1f} s up and down: {counted} bytes counted, {seen} at the interface")
        assert counted == pytest.approx(seen, rel=COUNTED_WITHIN)
        assert max(mean_rate(log, "up"), mean_rate(log, "down")) <= MOST

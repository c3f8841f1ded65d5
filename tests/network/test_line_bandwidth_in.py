"""A peer learns from its rounds what its line carries in, and tells its groups that."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.swarm.traffic.bottleneck import NOMINAL
from tests.network.namespaces import INTERFACE
from tests.network.swarm import RemotePeer, swarm
from tests.waiting import wait_for

IN, OUT = 1_250_000, 12_500_000
"""Bytes per second: 10 and 100 Mbit/s."""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def peers() -> Iterator[list[RemotePeer]]:
    with tempfile.TemporaryDirectory(prefix="hive") as folder, swarm(Path(folder), [True] * 3) as made:
        yield made


def shape(namespace: str, interface: str, rate: int) -> None:
    shaper = ["tbf", "rate", f"{rate}bps", "burst", "16kb", "latency", "200ms"]
    subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", interface, "root", *shaper], check=True)


def average(peers: list[RemotePeer]) -> list[int]:
    """The sizes of their groups."""
    for peer in peers:
        peer.begin("epoch")
    return [int(peer.answer().get("group", 0)) for peer in peers]


def test_a_line_whose_way_in_is_the_slow_one_is_known_after_some_rounds_and_only_that_one(
    peers: list[RemotePeer],
) -> None:
    *others, slow = peers
    # In a group of two, nobody can tell whose line it is.
    wait_for(lambda: average(peers) == [3, 3, 3], 60.0, "all to know one another")
    for peer in peers:
        shape(peer.host.namespace, INTERFACE, OUT)
    shape(slow.host.switch, slow.host.port, IN)

    def is_known() -> bool:
        average(peers)
        return bool(0.7 * IN < slow.ask("bandwidth") < 1.2 * IN)

    wait_for(is_known, 120.0, "the line in to be known")
    assert all(other.ask("bandwidth") >= NOMINAL / 2 for other in others), "they had to wait, and are not slow"

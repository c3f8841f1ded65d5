"""A peer learns from its rounds what its line carries out, and tells its groups that."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.swarm.traffic.bottleneck import NOMINAL
from tests.network.lineups.swarm import RemotePeer, swarm
from tests.network.namespaces import SWITCH, Host, add_switch, ip
from tests.waiting import wait_for

LINE = 500_000
"""Bytes per second of the slow line: 4 Mbit/s."""
FOREGROUND = 9000
"""Port."""
SEND = """
import socket, sys
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    connection.sendall(bytes(1 << 16))
"""
RECEIVE = """
import socket, sys
with socket.create_server(("0.0.0.0", int(sys.argv[1]))) as server:
    print("listening", flush=True)
    connection, _address = server.accept()
    while connection.recv(1 << 16):
        pass
"""

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def peers() -> Iterator[tuple[RemotePeer, RemotePeer]]:
    with tempfile.TemporaryDirectory(prefix="hive") as folder, swarm(Path(folder), [True, True]) as (one, other):
        yield one, other


@contextmanager
def slow_line_out(host: Host, rate: int) -> Iterator[None]:
    """What the host sends waits behind its interface, where its kernel does not see it, as behind a router's."""
    behind, inner, outer = "behind", "modem-in", "modem-out"
    add_switch(host.switch, behind)
    ip("-n", host.switch, "link", "add", inner, "type", "veth", "peer", "name", outer)
    for end, switch in ((inner, behind), (outer, SWITCH)):
        ip("-n", host.switch, "link", "set", end, "master", switch, "up")
    shaper = ["tbf", "rate", f"{rate}bps", "burst", "16kb", "latency", "200ms"]
    subprocess.run(["tc", "-n", host.switch, "qdisc", "add", "dev", inner, "root", *shaper], check=True)
    host.plug_into(behind)
    yield
    host.plug_into(SWITCH)


@contextmanager
def foreground_upload(sender: Host, receiver: Host) -> Iterator[None]:
    """Another program of the computer sends as fast as it can."""
    command = [sys.executable, "-c", RECEIVE, str(FOREGROUND)]
    with subprocess.Popen(receiver.command(*command), stdout=subprocess.PIPE) as receiving:
        assert receiving.stdout is not None
        receiving.stdout.readline()
        with subprocess.Popen(
            sender.command(sys.executable, "-c", SEND, receiver.address, str(FOREGROUND)), stderr=subprocess.DEVNULL
        ) as sending:
            yield
            sending.terminate()


def average(peers: tuple[RemotePeer, RemotePeer]) -> None:
    for peer in peers:
        peer.begin("epoch")
    ended = [peer.answer() for peer in peers]
    assert [end.get("group") for end in ended] == [2, 2], ended


def test_a_slow_line_is_known_after_one_round_and_a_faster_one_is_trusted_slowly(
    peers: tuple[RemotePeer, RemotePeer],
) -> None:
    other, slow = peers
    with slow_line_out(slow.host, LINE):
        average(peers)
        learned = slow.ask("bandwidth")
        assert 0.85 * LINE < learned < 1.05 * LINE
        assert other.ask("bandwidth") >= NOMINAL / 2, "it had to wait, and is not slow"
        with foreground_upload(slow.host, other.host):
            average(peers)
            assert slow.ask("bandwidth") < 0.75 * learned
        average(peers)
        average(peers)
        assert 0.85 * LINE < slow.ask("bandwidth") < 1.05 * LINE
    average(peers)
    assert LINE < slow.ask("bandwidth") < NOMINAL / 2


def test_a_peer_leaves_whose_line_costs_the_others_more_than_its_samples_save(
    peers: tuple[RemotePeer, RemotePeer],
) -> None:
    other, slow = peers
    slow.limit(upload=LINE)

    def end() -> str:
        for peer in peers:
            peer.begin("epoch")
        assert other.answer()["group"] == 2
        return str(slow.answer().get("failed", ""))

    # Speeds become known in the first rounds; then five in a row.
    assert wait_for(end, 60.0, "the slow one leaves").startswith("line_too_slow together=")


def test_a_ceiling_is_told_at_once(peers: tuple[RemotePeer, RemotePeer]) -> None:
    peers[0].limit(upload=LINE)
    assert 0.95 * LINE < peers[0].ask("bandwidth") <= LINE
    peers[0].limit(download=LINE)
    assert 0.95 * LINE < peers[0].ask("bandwidth") <= LINE

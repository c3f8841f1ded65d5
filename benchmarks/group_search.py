"""What it costs to look for a group, and how long it takes to find one.

A backbone and a number of peers, each on a host of its own (network namespaces; needs root). First all look under
epochs of their own, so that nobody finds anybody: bytes at each interface, and the backbone's processor. Then all but
one look under the same epoch and wait for it. Then all look, again and again: seconds from the order to the group.

Run it with `.venv/bin/python -m benchmarks.group_search [PEERS ...]`.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.network.interface_log import mean_rate
from tests.network.lineups.swarm import RemotePeer, swarm

SETTLING, SECONDS, ROUNDS = 5.0, 20.0, 8
WAITING = 8.0
"""Seconds of a group's ten in which the one that is late is waited for."""


def main(counts: list[int]) -> None:
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    for count in counts:
        folder = Path(tempfile.mkdtemp(prefix="hive"))
        try:
            with swarm(folder, [True] * (1 + count), module="searching_peer") as (backbone, *peers):
                print(f"{count} peers and the backbone; B/s at the interface, up and down:")
                for peer in peers:
                    peer.begin("expect", [other.address for other in peers if other is not peer])
                time.sleep(SETTLING)
                measure(backbone, peers, SECONDS, "at rest")
                for number, peer in enumerate(peers):
                    peer.begin("search", 1 + number)
                time.sleep(SETTLING)
                measure(backbone, peers, SECONDS, "all looking")
                stop(peers)
                for peer in peers[1:]:
                    peer.begin("search", 500)
                measure(backbone, peers[1:], WAITING, "waiting for one")
                stop(peers[1:])
                form(peers)
        finally:
            shutil.rmtree(folder)


def stop(peers: list[RemotePeer]) -> None:
    for peer in peers:
        peer.begin("stop")
        peer.answer()
    time.sleep(SETTLING)  # what went before is over


def measure(backbone: RemotePeer, peers: list[RemotePeer], seconds: float, name: str) -> None:
    begin, used = time.monotonic(), backbone.ask("processor")
    time.sleep(seconds)  # the time that is measured
    used, end = backbone.ask("processor") - used, time.monotonic()
    rates = [(mean_rate(log, "up"), mean_rate(log, "down")) for log in (p.interface.around(begin, end) for p in peers)]
    own = backbone.interface.around(begin, end)
    up, down = (statistics.fmean(rate[way] for rate in rates) for way in (0, 1))
    worst = max(max(rate) for rate in rates)
    print(
        f"  {name}: a peer {up:.0f}, {down:.0f} (largest {worst:.0f}); the backbone {mean_rate(own, 'up'):.0f},"
        f" {mean_rate(own, 'down'):.0f}, {used / (end - begin):.1%} of a core"
    )


def form(peers: list[RemotePeer]) -> None:
    seconds, groups = list[float](), list[int]()
    for number in range(ROUNDS):
        for peer in peers:
            peer.begin("search", 1000 + number)
        answers = [peer.answer() for peer in peers]
        seconds += [answer["seconds"] for answer in answers]
        groups += [answer["group"] for answer in answers]
    whole = sum(group == len(peers) for group in groups) / len(groups)
    print(
        f"  to a group: {statistics.median(seconds):.2f} s in the median, {max(seconds):.2f} s at most;"
        f" {whole:.0%} in one group of all"
    )


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [2, 8])

"""How many rounds of a run its volunteers take part in, and what catching up costs them.

An auxiliary peer and a number of volunteers on loopback, every second of which listens; the others only call. They rest
instead of computing, each at a speed of its own, so that an update is due every few seconds, and what is measured is
how well groups form on a machine as busy as it is. Prints, after the given seconds: updates, each volunteer's part in
them, samples accepted, and bytes sent by kind.

Run it with `.venv/bin/python -m benchmarks.participation [SECONDS] [VOLUNTEERS ...]`.
"""

import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.network.peers.churn_peer import AUXILIARY, BATCH, MICROBATCH
from tests.swarm.averaging.peers.small_peer import Peer
from tests.waiting import wait_for

SECONDS, VOLUNTEERS = 240.0, (2, 4, 8)
_UPDATE_EVERY = 6.0
"""Seconds, if averaging took no time."""
_SLOWEST = 2.0
"""Times as slow as the fastest."""


def main(seconds: float, counts: list[int]) -> None:
    for count in counts:
        folder = Path(tempfile.mkdtemp(prefix="hive"))
        peers = list[Peer]()
        try:
            peers.append(Peer(folder, "auxiliary", AUXILIARY, listens=True))
            for number in range(count):
                pause = pause_of(number, count, _UPDATE_EVERY)
                peers.append(Peer(folder, f"{number}", pause, peers[0].address, listens=number % 2 == 0))
            _, *volunteers = peers
            wait_for(lambda: all(len(peer.updates) > 1 for peer in volunteers), 300.0, "all take part", every=0.5)  # noqa: B023
            begun, load = _reached(volunteers), os.getloadavg()[0]
            time.sleep(seconds)  # the time that is measured
            _print(volunteers, begun, f"{seconds:g} s, load {load:.1f}")
        finally:
            for peer in peers:
                peer.leave()
            shutil.rmtree(folder)


def pause_of(number: int, count: int, update_every: float) -> float:
    """Seconds of rest after each microbatch, evenly spread among so many volunteers."""
    mean = count * MICROBATCH * update_every / BATCH
    return mean * (1 + (_SLOWEST - 1) * number / max(1, count - 1)) * 2 / (1 + _SLOWEST)


def _reached(volunteers: list[Peer]) -> int:
    return max(epoch for volunteer in volunteers for epoch in volunteer.updates)


def _print(volunteers: list[Peer], begun: int, circumstances: str) -> None:
    last = _reached(volunteers)
    parts, sent = list[float](), Counter[str]()
    accepted = computed = failed = 0
    for volunteer in volunteers:
        updates: list[dict[str, Any]] = [update for epoch, update in volunteer.updates.items() if epoch > begun]
        before = max((update for epoch, update in volunteer.updates.items() if epoch <= begun), key=_epoch)
        parts.append(len(updates) / (last - begun))
        if updates:
            accepted += sum(update["samples"] for update in updates)
            computed += updates[-1]["computed"] - before["computed"]
            sent += Counter(updates[-1]["sent"])
            sent -= Counter(before["sent"])
        failed += sum("failure" in event for event in volunteer.events)
    print(f"{len(volunteers)} volunteers, {circumstances}: {last - begun} updates")
    print(f"  part in them: {min(parts):.0%} to {max(parts):.0%}, mean {statistics.fmean(parts):.1%}")
    print(f"  samples accepted: {accepted / max(1, computed):.1%}; rounds that failed since the start: {failed}")
    print("  sent:", ", ".join(f"{kind} {size / 1000:.0f} kB" for kind, size in sorted(sent.items())))
    print(f"  states: {sent['state'] / max(1, sent['averaging']):.1%} of the averaging's bytes", flush=True)


def _epoch(update: dict[str, Any]) -> int:
    return int(update["epoch"])


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]) if given else SECONDS, [int(count) for count in given[1:]] or list(VOLUNTEERS))

"""How many rounds of a run its volunteers take part in, and what catching up costs them.

An auxiliary peer and a number of volunteers, every second of which listens; the others only call. They rest
instead of computing, each at a speed of its own, so that an update is due every few seconds, and what is measured is
how well groups form on a machine as busy as it is. Prints, after the given seconds: updates, each volunteer's part in
them, samples accepted, and bytes sent by kind.

All are on loopback. With `--homes`, each is on a host of its own (a network namespace; needs root), the volunteers
behind lines of 40/250, 20/100, 20/100 and 10/50 Mbit/s in turn.

Run it with `.venv/bin/python -m benchmarks.participation [--homes] [SECONDS] [VOLUNTEERS ...]`.
"""

import itertools
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.rounds import Line, homes
from tests.network.peers.churn_peer import AUXILIARY, BATCH, MICROBATCH
from tests.swarm.averaging.peers.small_peer import Peer
from tests.waiting import wait_for

SECONDS, VOLUNTEERS = 240.0, (2, 4, 8)
_UPDATE_EVERY = 6.0
"""Seconds, if averaging took no time."""
_SLOWEST = 2.0
"""Times as slow as the fastest."""
_LINES = ("40/250", "20/100", "20/100", "10/50")
"""Mbit/s up and down."""


def main(seconds: float, counts: list[int], *, at_home: bool) -> None:
    for count in counts:
        with ExitStack() as opened:
            lines = [Line.parse(text) for text in itertools.islice(itertools.cycle(_LINES), count)]
            places = opened.enter_context(homes(lines)) if at_home else [None] * (1 + count)
            folder = Path(tempfile.mkdtemp(prefix="hive"))
            opened.callback(shutil.rmtree, folder)
            peers = [Peer(folder, "auxiliary", AUXILIARY, listens=True, host=places[0])]
            opened.callback(peers[0].leave)
            for number, place in enumerate(places[1:]):
                pause = pause_of(number, count, _UPDATE_EVERY)
                peers.append(Peer(folder, f"{number}", pause, peers[0].address, listens=number % 2 == 0, host=place))
                opened.callback(peers[-1].leave)
            _, *volunteers = peers
            wait_for(lambda: all(len(peer.updates) > 1 for peer in volunteers), 300.0, "all take part", every=0.5)  # noqa: B023
            begun, load = _reached(volunteers), os.getloadavg()[0]
            time.sleep(seconds)  # the time that is measured
            _print(volunteers, begun, f"{seconds:g} s, load {load:.1f}")


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
    given = [argument for argument in sys.argv[1:] if argument != "--homes"]
    counts = [int(count) for count in given[1:]] or list(VOLUNTEERS)
    main(float(given[0]) if given else SECONDS, counts, at_home="--homes" in sys.argv)

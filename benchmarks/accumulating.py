"""What peers send and receive while they only compute, and while they look for their group.

A backbone, with its audit of contributions, and a number of volunteers that all listen, each on a host of its own
(network namespaces; needs root). They rest instead of computing, each at a speed of its own, so that an update is due
every 60 s. "After an update" are the first ten seconds of an epoch, with all that follows an update; "accumulating" is
the time from then until the first of them begins to look for the next group; "looking" from then on until the batch is
full.

Run it with `.venv/bin/python -m benchmarks.accumulating [UPDATES] [VOLUNTEERS ...]`.
"""

import os
import shutil
import statistics
import sys
import tempfile
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

from benchmarks.participation import pause_of
from tests.network import interface_log as log_module
from tests.network.interface_log import InterfaceLog, interface_log, mean_rate
from tests.network.lineups.churn import Volunteer
from tests.network.namespaces import INTERFACE, hosts
from tests.network.peers.churn_peer import AUXILIARY, MATCHMAKING
from tests.waiting import wait_for

UPDATES, VOLUNTEERS = 2, (2, 8)
_UPDATE_EVERY = 60.0
"""Seconds, if averaging took no time."""
_SEARCH = MATCHMAKING + 1.0
"""Seconds before a full batch in which peers look for their group."""
_AFTER = 10.0
"""Seconds that an update occupies its peers."""
_PATIENCE = 300.0


def main(updates: int, counts: list[int]) -> None:
    for count in counts:
        folder = Path(tempfile.mkdtemp(prefix="hive"))
        try:
            with hosts(1 + count) as places, ExitStack() as opened:
                logs = []
                for place in places:
                    script = place.command(sys.executable, log_module.__file__, INTERFACE)
                    logs.append(opened.enter_context(interface_log(script, folder / place.namespace)))
                backbone = Volunteer(places[0], folder, "backbone", AUXILIARY, [])
                opened.callback(backbone.end)
                backbone.begin()
                wait_for(lambda: backbone.events, _PATIENCE, "the backbone")  # noqa: B023
                contact = [backbone.events[0][1]["address"]]
                volunteers = list[Volunteer]()
                for number, place in enumerate(places[1:]):
                    pause = pause_of(number, count, _UPDATE_EVERY)
                    volunteers.append(Volunteer(place, folder, f"{number}", pause, contact))
                    opened.callback(volunteers[-1].end)
                    volunteers[-1].begin()
                wait_for(lambda: all(v.epochs for v in volunteers), _PATIENCE, "all take part", every=0.5)  # noqa: B023
                first = max(event["epoch"] for v in volunteers for _, event in v.epochs) + 1
                wait_for(
                    lambda: min(v.epochs[-1][1]["epoch"] for v in volunteers) >= first + updates,  # noqa: B023
                    _PATIENCE + 2 * _UPDATE_EVERY * updates,
                    "updates",
                    every=0.5,
                )
                _print(volunteers, logs, range(first, first + updates))
        finally:
            shutil.rmtree(folder)


def _print(volunteers: list[Volunteer], logs: list[InterfaceLog], epochs: range) -> None:
    spans = [_spans(volunteers, epoch) for epoch in epochs]
    lengths = statistics.fmean(end - begin for begin, *_, end in spans)
    print(f"{len(volunteers)} volunteers, load {os.getloadavg()[0]:.1f}, an epoch takes {lengths:.0f} s; B/s up, down:")
    for name, moment in (("after an update", 0), ("accumulating", 1), ("looking", 2)):
        rates = [
            [
                statistics.fmean(mean_rate(log.around(*list(pairwise(span))[moment]), way) for span in spans)
                for way in ("up", "down")
            ]
            for log in logs
        ]
        own, *others = rates
        up, down = (statistics.fmean(rate[way] for rate in others) for way in (0, 1))
        worst = max(max(rate) for rate in others)
        said = f"a volunteer {up:.0f}, {down:.0f} (largest {worst:.0f}); the backbone {own[0]:.0f}, {own[1]:.0f}"
        print(f"  {name}: {said}", flush=True)


def _spans(volunteers: list[Volunteer], epoch: int) -> tuple[float, float, float, float]:
    """When all had begun the epoch, when all that follows the update was done, when the first began to look for the
    epoch's group, and when the batch was full."""
    begun = max(at for v in volunteers for at, event in v.epochs if event["epoch"] == epoch)
    full = min(at for v in volunteers for at, event in list(v.events) if event.get("full") == epoch)
    return begun, begun + _AFTER, full - _SEARCH, full


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(given[0] if given else UPDATES, given[1:] or list(VOLUNTEERS))

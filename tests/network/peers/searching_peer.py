"""A peer that looks for a group, ordered on stdin and answering on stdout, one JSON object a line.

Usage as of line_peer.py. Orders: {"expect": [ADDRESS, ...]} (the others, as a run's progress would tell), {"search":
EPOCH} (look for those that look under the same epoch; answers after how many seconds there is a group, and its size),
{"stop": 0} (answers null at once), {"processor": 0} (seconds that its processes have used), {"carried": 0} (when, and
bytes up and down that the wire has carried for it by then, as the product counts them).
"""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import torch
from hivemind.averaging.control import AveragingStage, StepControl

from core.swarm.averaging.gradient_averager import EpochGradientAverager
from core.swarm.averaging.group_formation import Expected
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.wire_monitor import WireMonitor

_MATCHMAKING = 10.0
"""Seconds; that of the practice project."""
_DEADLINE = 120.0


class Searcher:
    def __init__(self, dht: Any) -> None:
        self._epoch = 0
        self._expected = dict[bytes, float]()
        self._averager = EpochGradientAverager(
            epoch=lambda: self._epoch,
            parameters=[torch.nn.Parameter(torch.zeros(3))],
            dht=dht,
            prefix="search",
            expected=lambda: Expected(self._expected),
            min_matchmaking_time=_MATCHMAKING,
            request_timeout=min(5.0, _MATCHMAKING * 0.6),
            client_mode=dht.client_mode,
            start=True,
        )
        self._control: StepControl | None = None

    def expect(self, addresses: list[str]) -> None:
        self._expected = {peer_id_of(address).to_bytes(): 0.0 for address in addresses}

    def search(self, epoch: int) -> None:
        send(self._found(epoch))

    def _found(self, epoch: int) -> dict[str, Any]:
        self._epoch, begin = epoch, time.monotonic()
        control = self._control = self._averager.schedule_step(timeout=_DEADLINE)
        while control.stage in (AveragingStage.IDLE, AveragingStage.LOOKING_FOR_GROUP) and not control.done():
            time.sleep(0.01)  # hivemind sets no event here
        seconds = time.monotonic() - begin
        if control.stage != AveragingStage.AWAITING_TRIGGER:
            return {"seconds": seconds, "group": 0}
        control.weight = 1.0
        control.allow_allreduce()
        return {"seconds": seconds, "group": len(control.result(_DEADLINE))}

    def stop(self) -> None:
        if self._control is not None:
            self._control.cancel()


def processor_seconds() -> float:
    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(time.user + time.system for time in times)


def main() -> None:
    folder, name, listen, _timeout, _peers, *initial_peers = sys.argv[1:]
    torch.set_num_threads(1)
    sockets = Path(folder, f"sockets-{name}")
    sockets.mkdir()
    link = Link()
    install(sockets, link)
    dht = join_swarm(initial_peers, Path(folder, f"identity-{name}"), listen or None)
    wire = WireMonitor(link, dht)
    # The first peer is the backbone, which looks for nobody.
    searcher = Searcher(dht) if initial_peers else None
    send({"address": own_addresses(dht)[0] if listen else ""})
    with ThreadPoolExecutor(1) as searching:
        for text in sys.stdin:
            match json.loads(text):
                case {"expect": addresses} if searcher is not None:
                    searcher.expect(addresses)
                case {"search": epoch} if searcher is not None:
                    searching.submit(searcher.search, epoch)
                case {"stop": _} if searcher is not None:
                    searcher.stop()
                case {"processor": _}:
                    send(processor_seconds())
                case {"carried": _}:
                    carried = wire.read()
                    send((time.monotonic(), carried.up, carried.down))
    os._exit(0)


def send(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

"""A real peer with a line of its own, told what to do on stdin and answering on stdout, one JSON object a line.

Usage: line_peer.py FOLDER NAME ADDRESS TIMEOUT [INITIAL_PEER]. Listens on ADDRESS; reaches out only if that is empty.
Its model has a million parameters and costs no time, so that a round is all network; TIMEOUT is the manifest's
averaging_timeout. Orders: {"limits": {...}}, {"epoch": n} (give half a batch and end the epoch), {"state": 0} (fetch
the state), {"traffic": 0} (tell the counts by kind).
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import torch

from core.api.manifest import Averaging, Optimizer, Training
from core.api.preferences import Limits
from core.swarm.optimizer import CollaborativeOptimizer, RoundFailed, StateUnavailable, Update, make_optimizer
from core.swarm.patches import pace_traffic, place_sockets
from core.swarm.peer import join_swarm, own_addresses
from core.swarm.traffic import Line

TRAINING = Training(target_batch_size=64, microbatch_size=32, optimizer=Optimizer("adamw", 0.001))
PARAMETERS = 1_000_000
DEADLINE = 240.0


class Peer:
    def __init__(self, folder: Path, name: str, listen: str, timeout: float, initial_peers: list[str]) -> None:
        torch.set_num_threads(1)
        self.line = Line()
        self._groups: list[int] = []
        self._limits = Limits()
        sockets = folder / f"sockets-{name}"
        sockets.mkdir()
        place_sockets(sockets)
        pace_traffic(self.line)
        self.dht = join_swarm(initial_peers, folder / f"identity-{name}", listen or None)
        torch.manual_seed(0)
        self.model = torch.nn.Linear(1000, PARAMETERS // 1000, bias=False)
        averaging = Averaging(matchmaking_time=2.0, averaging_timeout=timeout, average_state_every=1000)
        self.optimizer: CollaborativeOptimizer = make_optimizer(
            dht=self.dht,
            run_id="line",
            parameters=self.model.parameters(),
            training=TRAINING,
            averaging=averaging,
            in_company=lambda: True,
            on_update=self._note,
            extrapolate=False,
        )
        for parameter in self.model.parameters():
            parameter.grad = torch.ones_like(parameter)

    def _note(self, update: Update) -> None:
        self._groups.append(update.group_size)

    def take(self, limits: Limits) -> None:
        """At once, whatever the main thread does."""
        self._limits = limits
        self.line.apply(limits)

    def obey(self, order: str) -> Any:
        self.optimizer.fit_to(self._limits)
        match order:
            case "epoch":
                return self._epoch()
            case "state":
                return self._state()
            case "traffic":
                return self.line.meter.by_kind()
        raise ValueError(order)

    def _epoch(self) -> dict[str, Any]:
        """The group's size, or why the round failed."""
        epoch, begin = self.optimizer.local_epoch, time.monotonic()
        for parameter in self.model.parameters():
            parameter.grad = torch.ones_like(parameter)
        try:
            self.optimizer.step(batch_size=TRAINING.microbatch_size)
            while self.optimizer.local_epoch == epoch and time.monotonic() < begin + DEADLINE:
                self.optimizer.follow()
                time.sleep(0.02)
        except (RoundFailed, StateUnavailable) as error:
            return {"failed": str(error)}
        return {"group": self._groups[-1], "seconds": time.monotonic() - begin}

    def _state(self) -> dict[str, Any]:
        begin = time.monotonic()
        try:
            self.optimizer.load_state_from_peers()
        except StateUnavailable as error:
            return {"failed": str(error)}
        return {"seconds": time.monotonic() - begin, "size": self.optimizer.state_averager.state_size()}


def main() -> None:
    folder, name, listen, timeout, *initial_peers = sys.argv[1:]
    peer = Peer(Path(folder), name, listen, float(timeout), initial_peers)
    say({"address": own_addresses(peer.dht)[0] if listen else ""})
    orders: SimpleQueue[str | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(peer, orders), daemon=True).start()
    while (order := orders.get()) is not None:
        say(peer.obey(order))
    os._exit(0)


def say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def _listen(peer: Peer, orders: "SimpleQueue[str | None]") -> None:
    for text in sys.stdin:
        [(order, value)] = json.loads(text).items()
        if order == "limits":
            peer.take(Limits(**value))
        else:
            orders.put(order)
    orders.put(None)


if __name__ == "__main__":
    main()

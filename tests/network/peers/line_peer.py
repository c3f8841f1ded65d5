"""A real peer with a link of its own, ordered on stdin and answering on stdout, one JSON object a line.

Usage: line_peer.py FOLDER NAME ADDRESS TIMEOUT PEERS [INITIAL_PEER]. It listens on ADDRESS, or only reaches out if that
is empty. Its model has a million parameters and costs no time, so that a round is all network; TIMEOUT is the
manifest's averaging_timeout. Orders: {"limits": {...}}, {"epoch": 0} (give a share of the batch and end the epoch),
{"state": 0} (fetch the state), {"file": URL} (fetch a file), {"traffic": 0} (report the counts, of all and by
kind), {"contact": 0} (report whether INITIAL_PEER answers).
"""

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import torch
from hivemind import DHT

from core.api.project.manifest import Averaging, Optimizer, Training
from core.api.session_settings import Limits
from core.learning.data.download import Client
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import LineTooSlow, RoundFailed, StateUnavailable
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.traffic.throttled_download import ThrottledDownload
from core.swarm.traffic.wire_monitor import WireMonitor
from tests.fakes.backbone import ScriptedBackbone
from tests.fakes.http_server import LOOPBACK

BATCH = 32
Orders = SimpleQueue[tuple[str, Any] | None]
PARAMETERS = 1_000_000
DEADLINE = 240.0


class Peer:
    def __init__(
        self, dht: DHT, link: Link, averaging: Averaging, training: Training, initial_peers: list[str]
    ) -> None:
        self.dht, self.link = dht, link
        self._first = [peer_id_of(address) for address in initial_peers]
        self._groups: list[int] = []
        self._limits = Limits()
        torch.manual_seed(0)
        self.model = torch.nn.Linear(1000, PARAMETERS // 1000, bias=False)
        self.optimizer: CollaborativeOptimizer = make_optimizer(
            dht=self.dht,
            run_id="line",
            parameters=self.model.parameters(),
            training=training,
            averaging=averaging,
            backbone=ScriptedBackbone(),
            on_update=self._note,
            line_bandwidth=link.bandwidth,
            extrapolate=False,
        )
        for parameter in self.model.parameters():
            parameter.grad = torch.ones_like(parameter)

    def _note(self, update: Update) -> None:
        self._groups.append(update.group_size)
        self.link.downlink.add_round(update.slowest_partner)

    def take(self, limits: Limits) -> None:
        """At once, whatever the main thread does."""
        self._limits = limits
        self.link.apply(limits)

    def obey(self, order: str, value: Any) -> Any:
        self.optimizer.run_state.limit_transfer(self._limits)
        match order:
            case "epoch":
                return self._epoch()
            case "state":
                return self._state()
            case "file":
                return self._file(value)
            case "traffic":
                meter = self.link.meter
                return {"all": (meter.uploaded, meter.downloaded), **meter.by_kind()}
            case "bandwidth":
                return self.link.bandwidth()
            case "contact":
                return BackboneMonitor(self.dht, self._first).ask()
        raise ValueError(order)

    def _epoch(self) -> dict[str, Any]:
        """The group's size, or why the round failed."""
        epoch, begin = self.optimizer.local_epoch, time.monotonic()
        for parameter in self.model.parameters():
            parameter.grad = torch.ones_like(parameter)
        try:
            self.optimizer.step(batch_size=BATCH)
            while self.optimizer.local_epoch == epoch and time.monotonic() < begin + DEADLINE:
                self.optimizer.follow()
                time.sleep(0.02)
        except (LineTooSlow, RoundFailed, StateUnavailable) as error:
            return {"failed": str(error)}
        return {"group": self._groups[-1] if self._groups else 0, "seconds": time.monotonic() - begin}

    def _state(self) -> dict[str, Any]:
        begin = time.monotonic()
        try:
            self.optimizer.load_state_from_peers()
        except StateUnavailable as error:
            return {"failed": str(error)}
        return {"seconds": time.monotonic() - begin, "size": self.optimizer.state_averager.state_size()}

    def _file(self, url: str) -> dict[str, Any]:
        begin, size = time.monotonic(), 0
        client = Client(None, None, LOOPBACK, read=ThrottledDownload(self.link, threading.Event()))
        with client.get(url, 0) as response:
            while chunk := client.read(response, 1 << 18):
                size += len(chunk)
        return {"seconds": time.monotonic() - begin, "size": size}


def main() -> None:
    folder, name, listen, timeout, peers, *initial_peers = sys.argv[1:]
    averaging = Averaging(matchmaking_time=2.0, averaging_timeout=float(timeout), average_state_every=1000)
    training = Training(int(peers) * BATCH, BATCH, Optimizer("adamw", 0.001))
    torch.set_num_threads(1)
    link, sockets = Link(), Path(folder, f"sockets-{name}")
    sockets.mkdir()
    install(sockets, link)
    dht = join_swarm(initial_peers, Path(folder, f"identity-{name}"), listen or None)
    WireMonitor(link, dht).start()
    peer = Peer(dht, link, averaging, training, initial_peers)
    send({"address": own_addresses(peer.dht)[0] if listen else ""})
    orders: Orders = SimpleQueue()
    threading.Thread(target=_listen, args=(peer, orders), daemon=True).start()
    try:
        while (order := orders.get()) is not None:
            send(peer.obey(*order))
    except Exception:  # noqa: BLE001 - whatever it is
        # hivemind's threads would keep a broken peer alive and the test waiting.
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def send(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


def _listen(peer: Peer, orders: Orders) -> None:
    for text in sys.stdin:
        [(order, value)] = json.loads(text).items()
        if order == "limits":
            peer.take(Limits(**value))
        else:
            orders.put((order, value))
    orders.put(None)


if __name__ == "__main__":
    main()

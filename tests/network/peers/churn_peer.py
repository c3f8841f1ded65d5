"""A peer of a small run that ends with its stdin and reports every epoch on stdout.

Usage: churn_peer.py FOLDER NAME LISTEN PAUSE [INITIAL_PEER]. It learns the outputs of a fixed network, and rests PAUSE
seconds after each microbatch; PAUSE -1 is first contact and nothing else, PAUSE -2 an auxiliary peer. With an empty
LISTEN it only calls others. Lines are JSON: `{"address"}` first, then `{"epoch", "digest", "loss", "samples",
"group", "computed", "sent"}` for each epoch (samples since the start and bytes by kind), `{"full"}` with the epoch
whose batch is full for the first time, `{"adds"}` with the epoch that a microbatch was added to,
`{"dropped", "offence"}` for each peer that this one leaves out, and `{"failure"}`.
"""

import hashlib
import json
import logging
import os
import random
import secrets
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from hivemind import DHT

from core.api.project.manifest import Averaging, Optimizer, Training
from core.host.contributions.audit import Audit
from core.host.contributions.auditor import ContributionAuditor
from core.host.contributions.store import ContributionStore
from core.host.curve import Curve
from core.swarm.averaging.auxiliary import AuxiliaryOptimizer
from core.swarm.averaging.group import Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.contributions import Publisher, Round
from core.swarm.dht.organiser import RunRecordPublisher
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.errors import BadState, Isolated, RoundFailed, StateUnavailable
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from core.swarm.trust.distrust import Drop

BATCH, MICROBATCH = 768, 8
MATCHMAKING, TIMEOUT = 10.0, 30.0
"""Those of the practice project."""
TRAINING = Training(BATCH, MICROBATCH, Optimizer("adamw", 0.003))
AVERAGING = Averaging("float16", matchmaking_time=MATCHMAKING, averaging_timeout=TIMEOUT)
WIDTH = 16
AUXILIARY = -2.0


def main() -> None:
    folder, name, listen, pause, *initial_peers = sys.argv[1:]
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    torch.set_num_threads(1)
    sockets = Path(os.environ.get("TMPDIR", folder), f"s-{name}-{os.getpid()}")
    sockets.mkdir()
    link = Link()
    install(sockets, link)
    leaving = threading.Event()
    threading.Thread(target=partial(_listen, leaving), daemon=True).start()
    identity = Path(folder, f"identity-{name}")
    dht = join_swarm(initial_peers, identity, listen or None)
    report(address=own_addresses(dht)[0] if listen else "")
    if float(pause) == AUXILIARY:
        _assist(dht, Path(folder), identity, leaving)
    elif float(pause) < 0:
        leaving.wait()
    else:
        key = Path(folder, f"volunteer-{name}")
        key.write_bytes(secrets.token_bytes(32))
        publisher = Publisher(dht, "churn", key)
        Trainer(dht, initial_peers, float(pause), leaving, link=link, publisher=publisher).run()
    dht.shutdown()
    os._exit(0)


def _listen(leaving: threading.Event) -> None:
    os.read(os.dup(0), 1)
    leaving.set()


def _assist(dht: DHT, folder: Path, identity: Path, leaving: threading.Event) -> None:
    torch.manual_seed(0)
    _teacher, model = network(), network()
    store, curve = ContributionStore(folder, "churn"), Curve(folder, "churn", BATCH)
    audit = Audit(store, curve, "churn", TRAINING, knows_rounds=True)

    def report_update(update: Update) -> None:
        audit.add_round(update.epoch, update.slots, may_be_others=False)
        report(epoch=update.epoch, digest=digest(model), samples=update.own_samples, group=update.group_size)

    optimizer = make_optimizer(
        dht=dht,
        run_id="churn",
        parameters=model.parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=BackboneMonitor(dht, []),
        on_update=report_update,
        yielding=leaving.is_set,
        on_drop=report_drop,
        kind=AuxiliaryOptimizer,
        averages=True,
        behind=1,
    )
    record = RunRecordPublisher(dht, "churn", identity)
    epoch = partial(getattr, optimizer, "local_epoch")
    auditor = ContributionAuditor(dht, "churn", audit, store, epoch, is_dht_working=record.is_found)
    auditor.start()
    while not leaving.wait(0.1):
        record.publish(optimizer.local_epoch, time.time())
        _together(optimizer, optimizer.follow, leaving)
    auditor.close()
    optimizer.shutdown()


class Trainer:
    """Learns the teacher's outputs at random points, and rests `pause` seconds after each microbatch."""

    def __init__(
        self,
        dht: DHT,
        initial_peers: list[str],
        pause: float,
        leaving: threading.Event,
        *,
        link: Link,
        publisher: Publisher,
    ) -> None:
        torch.manual_seed(0)
        self._teacher, self._model = network(), network()
        self._pause, self._leaving, self._meter = pause, leaving, link.meter
        self._publisher = publisher
        self._losses: list[float] = []
        self._computed, self._full = 0, -1
        self._monitor = BackboneMonitor(dht, [peer_id_of(address) for address in initial_peers], "churn")
        self._monitor.start()
        self._optimizer: CollaborativeOptimizer = make_optimizer(
            dht=dht,
            run_id="churn",
            parameters=self._model.parameters(),
            training=TRAINING,
            averaging=AVERAGING,
            backbone=self._monitor,
            on_update=self._report_update,
            yielding=self._report_full,
            on_drop=report_drop,
        )

    def run(self) -> None:
        _catch_up(self._optimizer, self._leaving)
        points = torch.Generator().manual_seed(random.randrange(1 << 30))
        while not self._leaving.is_set():
            self._compute(torch.randn((MICROBATCH, WIDTH), generator=points))
            _together(self._optimizer, partial(self._optimizer.step, batch_size=MICROBATCH), self._leaving)
            self._optimizer.zero_grad()
            if not self._optimizer.tracker.ready_to_update_epoch:
                report(adds=self._optimizer.local_epoch)
            until = time.monotonic() + self._pause
            while time.monotonic() < until and not self._leaving.wait(0.02):
                _together(self._optimizer, self._optimizer.follow, self._leaving)
        self._monitor.stop()
        self._optimizer.shutdown()

    def _compute(self, inputs: torch.Tensor) -> None:
        with torch.no_grad():
            wanted = self._teacher(inputs)
        loss = torch.nn.functional.mse_loss(self._model(inputs), wanted)
        loss.backward()
        self._losses.append(float(loss))
        self._computed += MICROBATCH

    def _report_update(self, update: Update) -> None:
        loss = sum(self._losses) / len(self._losses) if self._losses else None
        self._losses.clear()
        if update.own_samples:
            speed = self._optimizer.tracker.local_progress.samples_per_second
            self._publisher.publish(Round(update.epoch, update.own_samples, loss), speed, wanted=True, name="")
        report(
            epoch=update.epoch,
            digest=digest(self._model),
            loss=loss,
            samples=update.own_samples,
            group=update.group_size,
            peers=self._optimizer.tracker.global_progress.num_peers,
            update=self._optimizer.state_averager.updates[-1].digest,
            computed=self._computed,
            sent={kind: up for kind, (up, _down) in self._meter.by_kind().items()},
        )

    def _report_full(self) -> bool:
        """Called before each round, which it never keeps this peer from."""
        optimizer = self._optimizer
        if optimizer.tracker.global_epoch <= optimizer.local_epoch > self._full:
            self._full = optimizer.local_epoch
            report(full=self._full)
        return False


def _together(optimizer: CollaborativeOptimizer, act: Any, leaving: threading.Event) -> None:
    """As the trainer does."""
    try:
        act()
    except RoundFailed as error:
        report(failure=str(error))
        if act != optimizer.follow:
            _together(optimizer, optimizer.follow, leaving)
    except Isolated as error:
        report(failure=str(error))
        leaving.wait(1.0)
    except (StateUnavailable, BadState) as error:
        report(failure=str(error))
        _catch_up(optimizer, leaving)


def _catch_up(optimizer: CollaborativeOptimizer, leaving: threading.Event) -> None:
    while not leaving.is_set():
        try:
            optimizer.load_state_from_peers()
        except (StateUnavailable, BadState):
            if optimizer.tracker.has_nothing_to_load:
                return
            leaving.wait(1.0)
        else:
            return


def network() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 32), torch.nn.Tanh(), torch.nn.Linear(32, WIDTH))


def digest(model: torch.nn.Module) -> str:
    made = hashlib.sha256()
    for parameter in model.parameters():
        made.update(parameter.detach().numpy().tobytes())
    return made.hexdigest()[:16]


def report_drop(drop: Drop) -> None:
    report(dropped=drop.peer, offence=drop.offence)


def report(**event: Any) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

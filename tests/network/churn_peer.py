"""A peer of a small run that ends with its stdin and reports every epoch on stdout.

Usage: churn_peer.py FOLDER NAME LISTEN PAUSE [INITIAL_PEER]. It learns what a fixed network says of random points, and
rests PAUSE seconds after each microbatch; PAUSE -1 is first contact and nothing else, PAUSE -2 an auxiliary peer. With
an empty LISTEN it only calls others. Lines are JSON: `{"address"}` first, then `{"epoch", "digest", "loss", "samples",
"group", "computed", "sent"}` for each epoch (samples since the start and bytes by kind), `{"full"}` with the epoch
whose batch is full for the first time, `{"adds"}` with the epoch that a microbatch was added to, and `{"trouble"}`.
"""

import hashlib
import json
import logging
import os
import random
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
from hivemind import DHT

from core.api.project.manifest import Averaging, Optimizer, Training
from core.host.run_record import RunRecordPublisher
from core.swarm.averaging.auxiliary import AuxiliaryOptimizer
from core.swarm.averaging.collaborative_step import Isolated, RoundFailed, StateUnavailable, Update
from core.swarm.averaging.optimizer import CollaborativeOptimizer
from core.swarm.build import make_optimizer
from core.swarm.dht.backbone_monitor import BackboneMonitor
from core.swarm.dht.peer import join_swarm, own_addresses, peer_id_of
from core.swarm.patches import install
from core.swarm.state.checks import BadState
from core.swarm.traffic.link import Link

BATCH, MICROBATCH = 768, 8
MATCHMAKING, TIMEOUT = 10.0, 30.0
"""Those of the practice project."""
TRAINING = Training(BATCH, MICROBATCH, Optimizer("adamw", 0.003))
AVERAGING = Averaging("none", matchmaking_time=MATCHMAKING, averaging_timeout=TIMEOUT)
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
    say(address=own_addresses(dht)[0] if listen else "")
    if float(pause) == AUXILIARY:
        _assist(dht, identity, leaving)
    elif float(pause) < 0:
        leaving.wait()
    else:
        _take_part(dht, initial_peers, float(pause), leaving, link)
    dht.shutdown()
    os._exit(0)


def _listen(leaving: threading.Event) -> None:
    os.read(os.dup(0), 1)
    leaving.set()


def _assist(dht: DHT, identity: Path, leaving: threading.Event) -> None:
    torch.manual_seed(0)
    _teacher, model = network(), network()

    def tell(update: Update) -> None:
        say(epoch=update.epoch, digest=digest(model), samples=update.own_samples, group=update.group_size)

    optimizer = make_optimizer(
        dht=dht,
        run_id="churn",
        parameters=model.parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=BackboneMonitor(dht, []),
        on_update=tell,
        yielding=leaving.is_set,
        kind=AuxiliaryOptimizer,
        averages=True,
        behind=1,
    )
    record = RunRecordPublisher(dht, "churn", identity)
    while not leaving.wait(0.1):
        record.publish(optimizer.local_epoch, time.time())
        _together(optimizer, optimizer.follow, leaving)
    optimizer.shutdown()


def _take_part(dht: DHT, initial_peers: list[str], pause: float, leaving: threading.Event, link: Link) -> None:
    torch.manual_seed(0)
    teacher, model = network(), network()
    losses: list[float] = []
    computed = 0
    monitor = BackboneMonitor(dht, [peer_id_of(address) for address in initial_peers], "churn")
    monitor.start()

    def tell(update: Update) -> None:
        loss = sum(losses) / len(losses) if losses else None
        losses.clear()
        say(
            epoch=update.epoch,
            digest=digest(model),
            loss=loss,
            samples=update.own_samples,
            group=update.group_size,
            peers=optimizer.tracker.global_progress.num_peers,
            mark=optimizer.state_averager.trail[-1].name,
            computed=computed,
            sent={kind: up for kind, (up, _down) in link.meter.by_kind().items()},
        )

    full = -1

    def is_full() -> bool:
        """Asked before each round; nothing is in its way."""
        nonlocal full
        if optimizer.tracker.global_epoch <= optimizer.local_epoch > full:
            say(full=(full := optimizer.local_epoch))
        return False

    optimizer = make_optimizer(
        dht=dht,
        run_id="churn",
        parameters=model.parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=monitor,
        on_update=tell,
        yielding=is_full,
    )
    _catch_up(optimizer, leaving)
    points = torch.Generator().manual_seed(random.randrange(1 << 30))
    while not leaving.is_set():
        inputs = torch.randn((MICROBATCH, WIDTH), generator=points)
        with torch.no_grad():
            wanted = teacher(inputs)
        loss = torch.nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        losses.append(float(loss))
        computed += MICROBATCH
        _together(optimizer, partial(optimizer.step, batch_size=MICROBATCH), leaving)
        optimizer.zero_grad()
        if not optimizer.tracker.ready_to_update_epoch:
            say(adds=optimizer.local_epoch)
        until = time.monotonic() + pause
        while time.monotonic() < until and not leaving.wait(0.02):
            _together(optimizer, optimizer.follow, leaving)
    monitor.stop()
    optimizer.shutdown()


def _together(optimizer: CollaborativeOptimizer, act: Any, leaving: threading.Event) -> None:
    """As the trainer does."""
    try:
        act()
    except RoundFailed as error:
        say(trouble=str(error))
        if act != optimizer.follow:
            _together(optimizer, optimizer.follow, leaving)
    except Isolated as error:
        say(trouble=str(error))
        leaving.wait(1.0)
    except (StateUnavailable, BadState) as error:
        say(trouble=str(error))
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


def say(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

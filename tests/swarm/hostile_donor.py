"""A peer that claims to be ahead of its run and offers random parameters, in a process of its own.

Usage: hostile_donor.py FOLDER PEER AHEAD. Follows the reports of the run `churn` of `tests.network.peers.churn_peer`,
says that it is AHEAD epochs further, gives state and update of it to everybody who asks, and tells who asks what it has
that it is so. Ends with its stdin; each epoch that it offers is a line on stdout.
"""

import os
import sys
import threading
from pathlib import Path
from typing import Any

import torch
from hivemind.utils import get_dht_time

from core.swarm.build import make_optimizer
from core.swarm.dht.contributions import ContributionRecords
from core.swarm.dht.peer import join_swarm
from core.swarm.dht.progress.run_monitor import RunMonitor
from core.swarm.dht.records import read_records
from core.swarm.patches import install
from core.swarm.state.fork_detection import parse_record
from core.swarm.state.update_chain import UpdateChain, extended
from core.swarm.traffic.link import Link
from tests.fakes.backbone import ScriptedBackbone
from tests.network.peers.churn_peer import AVERAGING, BATCH, TRAINING, network


def main() -> None:
    folder, peer, ahead = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    install(folder, Link())
    torch.set_num_threads(1)
    dht = join_swarm([peer], folder / "hostile.key")
    monitor, subkey = RunMonitor(dht, "churn"), ContributionRecords(dht, "churn")._own_subkey
    # Fresh parameters: another seed than everybody's.
    torch.manual_seed(1)
    optimizer = make_optimizer(
        dht=dht,
        run_id="churn",
        parameters=network().parameters(),
        training=TRAINING,
        averaging=AVERAGING,
        backbone=ScriptedBackbone(),
    )
    optimizer.tracker.shutdown()
    ended = threading.Event()
    threading.Thread(target=_listen, args=(ended,), daemon=True).start()
    offered = 0
    while not ended.wait(0.2):
        epoch = max((report.epoch for report in monitor.read().slots.values() if report.peer_id != own(dht)), default=0)
        if epoch and epoch + ahead > offered:
            offered = epoch + ahead
            offer(optimizer, offered, chain_of_run(dht))
            print(offered, flush=True)
        if offered:
            report(dht, subkey, offered)
    os._exit(0)


def own(dht: Any) -> bytes:
    return bytes(dht.peer_id.to_bytes())


def offer(optimizer: Any, epoch: int, chain: UpdateChain) -> None:
    """Give away what it has as the state, and something random as the update, that others have not made yet."""
    state, gradients = optimizer.state_averager, optimizer.grad_averager
    state.local_epoch = epoch
    state.scheduler.last_epoch = epoch
    state.updates = extended(chain, epoch, [os.urandom(8), os.urandom(8)])
    with torch.no_grad(), gradients.get_tensors() as tensors:
        for tensor in tensors:
            tensor.copy_(torch.randn_like(tensor))
    gradients.keep_average()
    gradients.offer_update(epoch, state.updates)
    state.state_sharing_priority = epoch
    state.allow_state_sharing = True


def chain_of_run(dht: Any) -> UpdateChain:
    """The longest that a peer has published: everybody can read it."""
    records = (parse_record(record.value) for record in read_records(dht, "churn_updates").values())
    chains = [record.updates for record in records if record is not None and record.peer != own(dht)]
    return max(chains, key=lambda chain: chain[-1].epoch if chain else 0, default=())


def report(dht: Any, subkey: bytes, epoch: int) -> None:
    now = get_dht_time()
    progress = {
        "peer_id": own(dht),
        "epoch": epoch,
        "samples_accumulated": BATCH // 4,
        "samples_per_second": 50.0,
        "time": now,
        "client_mode": False,
    }
    dht.store("churn_progress", subkey=subkey, value=progress, expiration_time=now + 10.0)


def _listen(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()

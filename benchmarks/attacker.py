"""A hostile peer of `benchmarks.attacks`: it attacks the run `churn` until its stdin ends.

Usage: attacker.py FOLDER PEER ATTACK. PEER is the address of the run's backbone.
"""

import os
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

from hivemind import DHT
from hivemind.p2p import PeerID
from hivemind.utils import get_dht_time

from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.contributions import ContributionRecords
from core.swarm.dht.peer import join_swarm
from core.swarm.dht.progress.run_monitor import RunMonitor
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.host.contributions.many_keys import Session, batched, put
from tests.swarm.flooding_peer import flood

_EVERY = 0.5
"""Seconds between two reports."""
_TEN_YEARS = 3.2e8
REPORTS: dict[str, dict[str, Any]] = {
    "epoch 10^6": {"epoch": 10**6},
    "epoch 10^6, client": {"epoch": 10**6, "client_mode": True},
    "infinite speed": {"samples_per_second": float("inf"), "time": -1e300, "samples_accumulated": 10**9},
    "epoch 2^64-1": {"epoch": 2**64 - 1},
}
"""What each says that is not so."""
FLOODS = {"values of 100 kB": (5000, 100_000), "values of 16 kB": (5000, 16_000)}
"""How many records are stored at the backbone, of how many bytes, again and again."""
KEYS = {"100 keys, no samples": 100}
"""How many keys that report no samples claim the samples of every update."""
_CLAIMED = 59


def main() -> None:
    folder, peer, attack = sys.argv[1:]
    install(Path(folder), Link())
    dht = join_swarm([peer], Path(folder, "hostile.key"))
    ended = threading.Event()
    threading.Thread(target=_listen, args=(ended,), daemon=True).start()
    print("joined", flush=True)
    if attack in REPORTS:
        _report(dht, REPORTS[attack], ended)
    elif attack in KEYS:
        _claim(dht, [Session("churn") for _ in range(KEYS[attack])], peer_id_of(peer), ended)
    else:
        count, size = FLOODS[attack]
        records = partial(flood, victim=peer_id_of(peer), count=count, size=size, lasts=900.0)
        while not ended.wait(_EVERY):
            dht.run_coroutine(records)
    os._exit(0)


def _report(dht: DHT, lie: dict[str, Any], ended: threading.Event) -> None:
    RunMonitor(dht, "churn")
    subkey = ContributionRecords(dht, "churn")._own_subkey
    while not ended.wait(_EVERY):
        now = get_dht_time()
        truth = {"peer_id": dht.peer_id.to_bytes(), "epoch": 0, "time": now, "client_mode": False}
        progress = {**truth, "samples_accumulated": 8, "samples_per_second": 1.0, **lie}
        for lasts in (_TEN_YEARS, 60.0):
            dht.store("churn_progress", subkey=subkey, value=progress, expiration_time=now + lasts)


def _claim(dht: DHT, sessions: list[Session], keeper: PeerID, ended: threading.Event) -> None:
    monitor, claimed = RunMonitor(dht, "churn"), 0
    own = {session.peer for session in sessions}
    while not ended.wait(_EVERY):
        reports = (report for report in monitor.read().slots.values() if report.peer_id not in own)
        epoch = max((report.epoch for report in reports), default=0)
        said = [session.progress(epoch, 0, 0.0) for session in sessions]
        if epoch > claimed:
            said += [session.claim(epoch, _CLAIMED) for session in sessions]
            claimed = epoch
        for records in batched(said):
            dht.run_coroutine(partial(put, keeper=keeper, records=records))


def _listen(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()

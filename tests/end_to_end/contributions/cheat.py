"""A hostile peer of a run: forges, copies, mangles and inflates contributions.

Usage: cheat.py FOLDER RUN_ID PEER. Prints one line for each thing it has done, and ends by itself.
"""

import sys
import time
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind.utils import get_dht_time

from core.swarm.dht.contributions import ContributionRecords, Round, Statement, sign
from core.swarm.dht.peer import join_swarm
from core.swarm.dht.progress.run_monitor import RunMonitor
from core.swarm.patches import install
from core.swarm.traffic.link import Link

_SHOWN = 4.0
"""Seconds for which each lie stands: the host looks every second."""
_SAMPLES, _SPEED = 20, 5.0


def main() -> None:
    folder, run_id, peer = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    install(folder, Link())
    dht = join_swarm([peer], folder / "cheat.key")
    records, monitor = ContributionRecords(dht, run_id), RunMonitor(dht, run_id)
    key, own = Ed25519PrivateKey.generate(), dht.peer_id.to_bytes()

    def lie(kind: str, data: bytes) -> None:
        records.put(data)
        time.sleep(_SHOWN)
        print(kind, flush=True)

    def statement(*rounds: Round) -> Statement:
        return Statement(run_id, records.own_slot, own, 1, rounds, _SPEED, "Mallory")

    while not (honest := [found for found in records.read() if len(found.data) > 200]):
        time.sleep(0.2)
    victim = honest[0].data
    lie("malformed", sign(statement(Round(1, -5, 1.0)), key))
    lie("replayed", victim)
    lie("forged", victim[:32] + sign(statement(Round(1, 100, 1.0)), key)[32:])
    epoch = monitor.read().epoch
    progress = {
        "peer_id": own,
        "epoch": epoch,
        "samples_accumulated": _SAMPLES,
        "samples_per_second": _SPEED,
        "time": get_dht_time(),
        "client_mode": True,
    }
    subkey = records._own_subkey  # its progress and its statements stand in the same slot
    dht.store(f"{run_id}_progress", subkey=subkey, value=progress, expiration_time=get_dht_time() + 5.0)
    time.sleep(_SHOWN)
    while monitor.read().epoch <= epoch:
        time.sleep(0.2)
    lie("inflated", sign(statement(Round(epoch + 1, 10 * _SAMPLES, 1.0)), key))
    dht.shutdown()


if __name__ == "__main__":
    main()

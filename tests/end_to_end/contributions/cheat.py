"""A hostile peer of a run: forges, copies, mangles and makes up contributions.

Usage: cheat.py FOLDER RUN_ID PEER LEADERBOARD. Prints one line for each lie that the backbone has rejected, and ends.
"""

import sys
from pathlib import Path

import requests
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hivemind.utils import get_dht_time

from core.swarm.dht.contributions import ContributionRecords, Round, Statement, sign
from core.swarm.dht.peer import join_swarm
from core.swarm.dht.progress.run_monitor import RunMonitor
from core.swarm.patches import install
from core.swarm.traffic.link import Link
from tests.waiting import wait_for

_READ_WITHIN = 60.0
"""Seconds: the backbone reads seldom while the peers only compute."""
_SAMPLES, _SPEED = 20, 5.0
_MADE_UP = "of a round it was not in"


def main() -> None:
    folder, run_id, peer, leaderboard = Path(sys.argv[1]), *sys.argv[2:]
    install(folder, Link())
    dht = join_swarm([peer], folder / "cheat.key")
    records, monitor = ContributionRecords(dht, run_id), RunMonitor(dht, run_id)
    key, own = Ed25519PrivateKey.generate(), dht.peer_id.to_bytes()

    def is_rejected(kind: str) -> bool:
        return kind in requests.get(leaderboard, timeout=10).json()["rejected"]

    def lie(kind: str, data: bytes) -> None:
        records.put(data)
        wait_for(lambda: is_rejected(kind), _READ_WITHIN, kind, every=0.5)
        print(kind, flush=True)

    def statement(*rounds: Round) -> Statement:
        return Statement(run_id, records.own_slot, own, 1, rounds, _SPEED, "Mallory")

    honest = wait_for(
        lambda: [found for found in records.read() if len(found.data) > 200], 300.0, "a statement", every=0.2
    )
    victim = honest[0].data
    lie("malformed", sign(statement(Round(1, -5, 1.0)), key))
    lie("replayed", victim)
    lie("forged", victim[:32] + sign(statement(Round(1, 100, 1.0)), key)[32:])
    epoch = monitor.read().epoch

    def reports_on() -> bool:
        """Also while it waits: a record of progress lasts for some seconds, and makes it a known peer."""
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
        return True

    wait_for(lambda: reports_on() and monitor.read().epoch > epoch, 300.0, "another update", every=1.0)
    records.put(sign(statement(Round(epoch + 1, 10 * _SAMPLES, 1.0)), key))
    wait_for(lambda: reports_on() and is_rejected(_MADE_UP), _READ_WITHIN, _MADE_UP, every=1.0)
    print(_MADE_UP, flush=True)
    dht.shutdown()


if __name__ == "__main__":
    main()

"""A peer that reports samples and comes to no round, in a process of its own, as slots of the DHT belong to processes.

Usage: ghost_peer.py FOLDER RUN_ID SAMPLES [listens]. Joins the peer whose address is the first line of its stdin,
prints a line once the swarm can read its report, and ends with its stdin.
"""

import sys
import threading
from pathlib import Path

from hivemind.utils import get_dht_time

from core.swarm.dht.contributions import ContributionRecords
from core.swarm.dht.peer import join_swarm
from core.swarm.dht.progress.run_monitor import RunMonitor
from core.swarm.patches import install
from core.swarm.traffic.link import Link


def main() -> None:
    folder, run_id, samples = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    listens = sys.argv[4:] == ["listens"]
    install(folder, Link())
    dht = join_swarm([sys.stdin.readline().strip()], folder / "ghost.key")
    RunMonitor(dht, run_id)
    subkey = ContributionRecords(dht, run_id)._own_subkey  # progress stands in the same slot
    ended = threading.Event()
    threading.Thread(target=_listen, args=(ended,), daemon=True).start()
    while not ended.wait(0.5):
        now = get_dht_time()
        progress = {
            "peer_id": dht.peer_id.to_bytes(),
            "epoch": 0,
            "samples_accumulated": samples,
            "samples_per_second": 1.0,
            "time": now,
            "client_mode": not listens,
        }
        dht.store(f"{run_id}_progress", subkey=subkey, value=progress, expiration_time=now + 10.0)
        print("reported", flush=True)
    dht.shutdown()


def _listen(ended: threading.Event) -> None:
    sys.stdin.read()
    ended.set()


if __name__ == "__main__":
    main()

"""A peer that finishes rounds without training, in a process of its own, as slots of the DHT belong to processes.

Usage: publishing_peer.py FOLDER RUN_ID KEY [PEER]. Prints its address; then each line of stdin is a command:
`tell EPOCH SAMPLES WANTED NAME`, or `read`, answered by a JSON list of what stands on the board.
"""

import json
import sys
from pathlib import Path

from core.swarm.dht.contributions import Round, publisher_of, verify
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link


def main() -> None:
    folder, run_id, key, *peers = sys.argv[1:]
    install(Path(folder), Link())
    dht = join_swarm(peers, Path(folder, "peer.key"))
    publisher = publisher_of(dht, run_id, Path(key))
    print(own_addresses(dht)[0], flush=True)
    for line in sys.stdin:
        match line.split():
            case ["tell", epoch, samples, wanted, *name]:
                done = Round(int(epoch), int(samples), 4.0)
                publisher.tell(done, 10.0, wanted=wanted == "yes", name=" ".join(name))
                print("told", flush=True)
            case ["read"]:
                found = [verify(each.data) for each in publisher.board.read()]
                told = [(who, said.name, [(done.epoch, done.samples) for done in said.rounds]) for who, said in found]
                print(json.dumps(told), flush=True)
    dht.shutdown()


if __name__ == "__main__":
    main()

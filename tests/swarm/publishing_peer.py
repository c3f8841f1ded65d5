"""A peer that finishes rounds without training, in a process of its own, as slots of the DHT belong to processes.

Usage: publishing_peer.py FOLDER RUN_ID KEY [PEER]. Prints its address; then each line of stdin is a command:
`publish EPOCH SAMPLES WANTED NAME`, or `read`, answered by a JSON list of all statements.
"""

import json
import sys
from pathlib import Path

from core.swarm.dht.contributions import Publisher, Round, verify
from core.swarm.dht.peer import join_swarm, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link


def main() -> None:
    folder, run_id, key, *peers = sys.argv[1:]
    install(Path(folder), Link())
    dht = join_swarm(peers, Path(folder, "peer.key"))
    publisher = Publisher(dht, run_id, Path(key))
    print(own_addresses(dht)[0], flush=True)
    for line in sys.stdin:
        match line.split():
            case ["publish", epoch, samples, wanted, *name]:
                done = Round(int(epoch), int(samples), 4.0)
                publisher.publish(done, 10.0, wanted=wanted == "yes", name=" ".join(name))
                print("published", flush=True)
            case ["read"]:
                found = [verify(each.data) for each in publisher.records.read()]
                read = [(who, made.name, [(done.epoch, done.samples) for done in made.rounds]) for who, made in found]
                print(json.dumps(read), flush=True)
    dht.shutdown()


if __name__ == "__main__":
    main()

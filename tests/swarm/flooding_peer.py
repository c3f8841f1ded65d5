"""A hostile peer that fills another one's part of the DHT: plain hivemind, none of this program's checks.

Usage: flooding_peer.py FOLDER PEER COUNT,SIZE,LASTS ... Prints for each flood how many of COUNT records of about SIZE
bytes, which are to last LASTS seconds, were taken.
"""

import os
import sys
from functools import partial
from pathlib import Path

from hivemind import DHT
from hivemind.dht.node import DHTNode
from hivemind.dht.routing import DHTID
from hivemind.p2p import PeerID
from hivemind.utils import MSGPackSerializer, get_dht_time

from core.swarm.dht.addresses import peer_id_of
from core.swarm.patches import install
from core.swarm.traffic.link import Link

_AT_ONCE = 20
_HEADER = 5
"""Bytes of MessagePack before the value."""


def main() -> None:
    folder, peer, *floods = sys.argv[1:]
    install(Path(folder), Link())
    dht = DHT(initial_peers=[peer], start=True, use_relay=False, startup_timeout=60.0)
    for wanted in floods:
        count, size, lasts = wanted.split(",")
        values = partial(flood, victim=peer_id_of(peer), count=int(count), size=int(size), lasts=float(lasts))
        print(dht.run_coroutine(values), flush=True)
    dht.shutdown()


async def flood(_dht: DHT, node: DHTNode, *, victim: PeerID, count: int, size: int, lasts: float) -> int:
    """Runs in the DHT's process."""
    taken, value = 0, MSGPackSerializer.dumps(os.urandom(size - _HEADER))
    for _ in range(count // _AT_ONCE):
        keys = [DHTID.generate() for _ in range(_AT_ONCE)]
        values, subkeys = [value] * _AT_ONCE, ["flood"] * _AT_ONCE
        stored = await node.protocol.call_store(victim, keys, values, get_dht_time() + lasts, subkeys)
        taken += sum(stored or [])
    return taken


if __name__ == "__main__":
    main()

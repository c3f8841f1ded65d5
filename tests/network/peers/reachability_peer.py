"""A real peer that says how others reach it, one JSON object a line: at first, and whenever that changes.

Usage: reachability_peer.py FOLDER NAME PORT MAPS_PORT [INITIAL_PEER]. Without an initial peer it is a backbone that
listens on all interfaces, and its first line has its addresses. To each line of input it answers whether the backbone
answers. It ends with its input.
"""

import json
import os
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from core.swarm.connectivity.backbone_monitor import BackboneMonitor
from core.swarm.connectivity.dial_back import serve_dial_backs
from core.swarm.connectivity.reachability import PortSettings, ReachabilityMonitor, join_reachable
from core.swarm.dht.addresses import peer_id_of
from core.swarm.dht.peer import join_swarm, on_all_interfaces, own_addresses
from core.swarm.patches import install
from core.swarm.traffic.link import Link


def main(opened: ExitStack) -> None:
    folder, name, port, maps_port, *initial_peers = sys.argv[1:]
    sockets, identity = Path(folder, f"sockets-{name}"), Path(folder, f"identity-{name}")
    sockets.mkdir()
    install(sockets, Link())
    ports = PortSettings(int(port), maps_port == "yes")
    if not initial_peers:
        dht = join_swarm([], identity, on_all_interfaces(ports.port))
        serve_dial_backs(dht)
        send(own_addresses(dht))
    else:
        dht, found = join_reachable(initial_peers, identity, ports, opened)
        send({"reachability": found, "client": dht.client_mode})
        monitor = ReachabilityMonitor(dht, initial_peers, ports, found)
        monitor.start()
        threading.Thread(target=report, args=(monitor,), daemon=True).start()
        contact = BackboneMonitor(dht, [peer_id_of(address) for address in initial_peers])
        contact.start()
        for _ in sys.stdin:
            send({"near": contact.ask()})
    sys.stdin.read()
    dht.shutdown()


def report(monitor: ReachabilityMonitor) -> None:
    last = monitor.value
    while True:
        time.sleep(0.1)
        if monitor.value != last:
            last = monitor.value
            send({"reachability": last, "client": False})


def send(answer: object) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    with ExitStack() as stack:
        main(stack)
    os._exit(0)

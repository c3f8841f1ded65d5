"""Compares what was counted between this program and the daemon with what the wire has carried, and corrects it."""

import threading
import time

import psutil
from hivemind import DHT

from core.swarm.traffic.link import Link
from core.swarm.traffic.tcp_info import Carried, connections

_PERIOD = 0.2
"""Seconds between two readings; a ceiling holds over such times."""


class WireMonitor(threading.Thread):
    """Of one peer, for as long as its daemon lives. Begin it with `start`.

    Where the kernel does not report it (on other systems than Linux), the counts remain those of messages with a flat
    rate for headers.
    """

    def __init__(self, link: Link, dht: DHT) -> None:
        super().__init__(name="wire monitor", daemon=True)
        self._link, self._daemon = link, daemon_of(dht)
        self._open = dict[bytes, Carried]()
        self._closed = Carried()

    def run(self) -> None:
        last = time.monotonic()
        while self._daemon.is_running():
            time.sleep(_PERIOD)
            carried, now = self.read(), time.monotonic()
            if self._open:
                self._link.set_carried(carried, now - last)
            last = now

    def read(self) -> Carried:
        """All that the daemon's connections have carried, also those that have ended."""
        now = connections(self._daemon.pid)
        for cookie in self._open.keys() - now.keys():
            self._closed += self._open[cookie]
        self._open = now
        return sum(now.values(), self._closed)


def daemon_of(dht: DHT) -> psutil.Process:
    """The process of libp2p that carries the traffic of a peer."""
    (daemon,) = [child for child in psutil.Process(dht.pid).children() if "p2pd" in child.name()]
    return daemon

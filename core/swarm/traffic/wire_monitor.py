"""Compares what was counted between this program and the daemon with what the wire has carried, and corrects it.

From the same readings it learns how much the line carries.
"""

import threading
import time

import psutil
from hivemind import DHT

from core.swarm.traffic.bottleneck import IDLE, BottleneckBandwidth, Readings, delivered, is_limited_in
from core.swarm.traffic.link import Link
from core.swarm.traffic.meter import TrafficMeter
from core.swarm.traffic.tcp_info import Carried, Connection, connections

_PERIOD = 0.2
"""Seconds between two readings; a ceiling holds over such times."""
_QUIET_PERIOD = 3.0
"""Seconds between two while next to nothing goes through this program: each takes two milliseconds, a third of one in
the kernel, which would be most of what a paused session takes of the processor."""


class Pace:
    """When to read the kernel's counts: often while messages pass."""

    def __init__(self, meter: TrafficMeter, now: float) -> None:
        self._meter = meter
        self.note_reading(now)

    def note_reading(self, now: float) -> None:
        self._at, self._counted = now, self._messages()

    def is_due(self, now: float) -> bool:
        return now >= self._at + _QUIET_PERIOD or self._messages() >= self._counted + IDLE

    def _messages(self) -> int:
        return sum(map(sum, self._meter.by_kind().values()))


class WireMonitor(threading.Thread):
    """Of one peer, for as long as its daemon lives. Begin it with `start`.

    Where the kernel does not report it (on other systems than Linux), the counts remain those of messages with a flat
    rate for headers.
    """

    def __init__(self, link: Link, dht: DHT) -> None:
        super().__init__(name="wire monitor", daemon=True)
        self._link, self._daemon = link, daemon_of(dht)
        self._open = dict[bytes, Connection]()
        self._closed = Carried()
        self._bottleneck, self._readings = BottleneckBandwidth(), Readings()

    def run(self) -> None:
        last, before, then = time.monotonic(), Carried(), self._open
        pace = Pace(self._link.meter, last)
        self._readings.add(last, 0, self._open)
        while True:
            time.sleep(_PERIOD)
            if not pace.is_due(time.monotonic()):
                continue
            if not self._daemon.is_running():
                return
            carried, now = self.read(), time.monotonic()
            seconds, new = now - last, carried - before
            if self._open:
                self._link.set_carried(carried, seconds)
                self._link.downlink.add(new.down, seconds, is_limited=is_limited_in(then, self._open))
                self._learn(new.up, delivered(then, self._open), seconds, now)
            last, before, then = now, carried, self._open
            pace.note_reading(now)

    def _learn(self, sent: int, arrived: int, seconds: float, now: float) -> None:
        self._bottleneck.add(arrived, seconds, is_limited=self._readings.add(now, sent, self._open))
        self._link.line_bandwidth = self._bottleneck.value

    def read(self) -> Carried:
        """All that the daemon's connections have carried, also those that have ended."""
        now = connections(self._daemon.pid)
        for cookie in self._open.keys() - now.keys():
            self._closed += self._open[cookie].carried
        self._open = now
        return sum((connection.carried for connection in now.values()), self._closed)


def daemon_of(dht: DHT) -> psutil.Process:
    """The process of libp2p that carries the traffic of a peer."""
    daemons = [child for child in psutil.Process(dht.pid).children() if "p2pd" in child.name()]
    # Others run for some seconds, to call a peer back or to ask for that.
    return min(daemons, key=psutil.Process.create_time)

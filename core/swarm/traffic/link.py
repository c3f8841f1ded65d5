"""The volunteer's link: both directions with their ceilings, and what they have carried.

The practice project's backbone and companion are peers like any other, with processes of their own that know no link;
the engine lifts the ceilings for a session with them, and leaves it out of the data cap.
"""

import asyncio
import ctypes
import multiprocessing
import time

from core.api.session_settings import Limits
from core.swarm.traffic.bottleneck import NOMINAL, DownlinkBandwidth
from core.swarm.traffic.meter import Kind, TrafficMeter
from core.swarm.traffic.tcp_info import Carried
from core.swarm.traffic.token_bucket import TokenBucket

OVERHEAD = 0.05
"""Of a stream of tensors: headers of Ethernet, IP and TCP, 66 bytes in 1448; of TLS, 22 in 16 384; of yamux, 12 in
4096. docs/measurements.md has it measured."""
_ACKNOWLEDGED = 20
"""Bytes that may come in for one that goes out, and the other way: each two packets are acknowledged by one of 66
bytes, so acknowledgements take less than half of the other direction's ceiling."""
_RESERVE = 0.02
"""Share of a ceiling, kept for what goes out before it can be counted: acknowledgements and the daemon's own
messages."""
_CALLS_AHEAD = 0.2
"""Seconds of the ceiling that calls may use in advance, because others wait for them. At the end of a round a peer
makes and answers dozens of them at once."""
_SMOOTHING = 0.2
"""Share of the newest reading in the mean rate of what is not a stream of tensors."""
_STATE_SHARE = 0.1
"""Of the ceiling, for states that this peer gives away while it averages: a whole group waits for its round."""
_ROUND_GOES_ON = 0.5
"""Seconds after a message of a round in which another one is expected."""
_POLL_EVERY = 0.05
_LEAST_SHARE = 0.1
"""Of the ceiling, left for streams whatever else comes in."""


class Link:
    """Made before the first process is forked, so that all of them share it."""

    def __init__(self) -> None:
        self.meter = TrafficMeter()
        self.up = TokenBucket()
        self.down = TokenBucket()
        self.line_bandwidth = NOMINAL
        """Bytes per second that the line is assumed to carry up, in this process only."""
        self.downlink = DownlinkBandwidth()
        """What it carries down, in this process only."""
        self._incoming = multiprocessing.Value(ctypes.c_int)
        self._is_measured = multiprocessing.RawValue(ctypes.c_bool)
        """Whether the kernel reports what comes in."""
        self._other_rate = multiprocessing.RawValue(ctypes.c_double)
        """Bytes per second that come in besides streams of tensors."""
        self._averaging_until = multiprocessing.RawValue(ctypes.c_double)
        self._came = self._streams = 0

    @property
    def incoming(self) -> int:
        """Streams of all processes on which tensors may come in now; they share the ceiling."""
        return int(self._incoming.value)

    def count_incoming(self, change: int) -> None:
        with self._incoming.get_lock():
            self._incoming.value += change

    def apply(self, limits: Limits) -> None:
        """Follow changed ceilings; all processes do within a tenth of a second. From any thread."""
        self.up.rate = _ceiling(limits.upload_limit, limits.download_limit)
        self.down.rate = _ceiling(limits.download_limit, limits.upload_limit)

    def bandwidth(self) -> float:
        """Bytes per second for DeDLOC's load balancing, which knows one number for both directions."""
        return min(rate for rate in (self.up.rate, self.down.rate, self.line_bandwidth, self.downlink.value) if rate)

    @property
    def rate_for_streams(self) -> float:
        """Bytes per second in which tensors may come in, beside everything else that does; 0 is no ceiling."""
        return max(self.down.rate * _LEAST_SHARE, self.down.rate - self._other_rate.value)

    async def send_call(self, count: int) -> None:
        """Wait until a message of `count` bytes may be sent: only while many are, and streams wait for it."""
        self.meter.add("dht", up=count)
        await self.up.wait_for(count, _CALLS_AHEAD)

    def receive_call(self, count: int) -> None:
        """Count a message that was read; streams wait for it."""
        self.meter.add("dht", down=count)
        if not self._is_measured.value:
            self.down.consume(count)

    async def send(self, count: int, kind: Kind) -> None:
        """Wait until `count` bytes of a stream may be sent."""
        if kind == "averaging":
            self._averaging_until.value = time.monotonic() + _ROUND_GOES_ON
        elif kind == "state":
            await self._give_way(count)
        await self.up.wait_for(count)
        self.meter.add(kind, up=count)

    async def _give_way(self, count: int) -> None:
        """Wait while a round goes on, but not so long that the state gets less than its share."""
        rate = self.up.rate
        until = time.monotonic() + (count / rate * (1 / _STATE_SHARE - 1) if rate else 0.0)
        while time.monotonic() < min(until, self._averaging_until.value):  # noqa: ASYNC110 - rounds are other processes'
            await asyncio.sleep(_POLL_EVERY)

    async def receive(self, count: int, kind: Kind) -> None:
        """Count bytes of a stream that were read, and wait until more may be."""
        self.meter.add(kind, down=count)
        # The kernel has counted them when they came; they may have waited in the daemon since.
        await self.down.wait_for(0 if self._is_measured.value else count)

    def set_carried(self, carried: Carried, seconds: float) -> None:
        """What the wire has carried for the daemon since the beginning; `seconds` since the last call.

        Call it from one thread only.
        """
        self._is_measured.value = True
        came, streams = carried.down - self._came, self.meter.streams_received - self._streams
        self._came, self._streams = carried.down, self.meter.streams_received
        self.up.consume(self.meter.set_carried(carried).up)
        self.down.consume(came)
        self._other_rate.value += _SMOOTHING * (max(0, came - streams) / seconds - self._other_rate.value)


def on_the_wire(count: int) -> int:
    """Bytes at the network interface for `count` bytes of a stream."""
    return int(count * (1 + OVERHEAD))


def _ceiling(rate: int, other: int) -> float:
    """The ceiling of one direction, low enough for its acknowledgements to fit under the other one; 0 is none."""
    lowest = min((ceiling for ceiling in (rate, other * _ACKNOWLEDGED) if ceiling), default=0)
    return lowest * (1 - _RESERVE)

"""The volunteer's line: what a session may send and fetch, and what it did, by kind, over all its processes.

The practice project's backbone and companion are peers like any other, with processes of their own that know no line;
the engine lifts the ceilings for a session with them, and leaves it out of the data cap.
"""

import ctypes
import multiprocessing
from collections import deque
from contextvars import ContextVar
from typing import Literal, get_args

from core.api.session_settings import Limits
from core.api.snapshot import Traffic
from core.swarm.traffic.token_bucket import TokenBucket

Kind = Literal["averaging", "state", "dht", "data"]
"""Gradients and parameters of averaging rounds; the run's state for or from a newcomer; the peers' talk; shards."""
KINDS: tuple[Kind, ...] = get_args(Kind)
current_kind: ContextVar[Kind] = ContextVar("current_kind", default="averaging")
"""What the streams are about that this task opens or answers."""

_RATE_WINDOW = 5.0
"""Seconds over which a rate is taken: averaging comes in bursts of a fraction of a second."""
OVERHEAD = 0.06
"""Headers of Ethernet, IP, TCP, TLS and yamux, and the acknowledgements of what comes the other way, as a share of what
is sent: 66 bytes in 1448, 22 in 16 384, 12 in 4096, rounded up. docs/measurements.md has it measured."""


class TrafficMeter:
    """Made before the first process is forked, so that all of them add to the same numbers."""

    def __init__(self) -> None:
        self._lock = multiprocessing.Lock()
        self._uploaded = multiprocessing.RawArray(ctypes.c_uint64, len(KINDS))
        self._downloaded = multiprocessing.RawArray(ctypes.c_uint64, len(KINDS))

    @property
    def uploaded(self) -> int:
        return sum(self._uploaded)

    @property
    def downloaded(self) -> int:
        return sum(self._downloaded)

    def by_kind(self) -> dict[Kind, tuple[int, int]]:
        """Bytes up and down."""
        return dict(zip(KINDS, zip(self._uploaded, self._downloaded, strict=True), strict=True))

    def add_uploaded(self, count: int, kind: Kind) -> None:
        with self._lock:
            self._uploaded[KINDS.index(kind)] += count

    def add_downloaded(self, count: int, kind: Kind) -> None:
        with self._lock:
            self._downloaded[KINDS.index(kind)] += count


class Line:
    """Both directions with their ceilings. Made before the first process is forked."""

    def __init__(self) -> None:
        self.meter = TrafficMeter()
        self.up = TokenBucket()
        self.down = TokenBucket()
        self._inflows = multiprocessing.Value(ctypes.c_int)

    @property
    def inflows(self) -> int:
        """Streams of all processes on which tensors may come in now; they share the ceiling."""
        return int(self._inflows.value)

    def count_inflows(self, change: int) -> None:
        with self._inflows.get_lock():
            self._inflows.value += change

    def apply(self, limits: Limits) -> None:
        """Take over changed ceilings; all processes follow within a tenth of a second. From any thread."""
        self.up.rate, self.down.rate = limits.upload_limit, limits.download_limit


class RateWatch:
    """Rates of a meter, from readings at given times."""

    def __init__(self, meter: TrafficMeter) -> None:
        self._meter = meter
        self._readings: deque[tuple[float, int, int]] = deque()

    def read(self, now: float) -> Traffic:
        """Totals, and mean rates over the last few seconds; `now` in seconds of any steady clock."""
        reading = (now, self._meter.uploaded, self._meter.downloaded)
        self._readings.append(reading)
        while len(self._readings) > 2 and now - self._readings[1][0] >= _RATE_WINDOW:
            self._readings.popleft()
        then, uploaded, downloaded = self._readings[0]
        span = now - then
        if span <= 0:
            return Traffic(reading[1], reading[2])
        return Traffic(reading[1], reading[2], (reading[1] - uploaded) / span, (reading[2] - downloaded) / span)

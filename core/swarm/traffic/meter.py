"""What a session has sent and received, by kind, over all its processes."""

import ctypes
import multiprocessing
from collections import deque
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Literal, get_args

from core.api.snapshot import Traffic
from core.swarm.traffic.tcp_info import Carried

Kind = Literal["averaging", "state", "dht", "data"]
"""Gradients and parameters of averaging rounds; the run's state for or from a newcomer; everything else between the
daemons (calls of the DHT, acknowledgements, headers of small messages, keep-alives); shards."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_DATA = KINDS.index("data")
"""The one kind that does not pass through the daemon."""
current_kind: ContextVar[Kind] = ContextVar("current_kind", default="averaging")
"""What the streams are about that this task opens or answers."""

_RATE_WINDOW = 5.0
"""Seconds over which a rate is taken: averaging comes in bursts of a fraction of a second."""


class TrafficMeter:
    """Made before the first process is forked, so that all of them add to the same numbers.

    Messages are counted where they pass, by kind. `set_carried` adds what only the kernel knows of: until it is called,
    the totals are those of the messages.
    """

    def __init__(self) -> None:
        self._lock = multiprocessing.Lock()
        self._sent = multiprocessing.RawArray(ctypes.c_uint64, len(KINDS))
        self._received = multiprocessing.RawArray(ctypes.c_uint64, len(KINDS))
        self._carried = Carried()
        self._beside = Carried()
        """What the daemon carried besides the messages."""

    @property
    def uploaded(self) -> int:
        return (self._carried.up or _of_daemon(self._sent)) + self._sent[_DATA]

    @property
    def downloaded(self) -> int:
        return (self._carried.down or _of_daemon(self._received)) + self._received[_DATA]

    @property
    def streams_received(self) -> int:
        """Bytes of messages that tensors came in with."""
        return self._received[KINDS.index("averaging")] + self._received[KINDS.index("state")]

    def by_kind(self) -> dict[Kind, tuple[int, int]]:
        """Bytes up and down."""
        counted = dict(zip(KINDS, zip(self._sent, self._received, strict=True), strict=True))
        up, down = counted["dht"]
        return {**counted, "dht": (up + self._beside.up, down + self._beside.down)}

    def add(self, kind: Kind, *, up: int = 0, down: int = 0) -> None:
        with self._lock:
            self._sent[KINDS.index(kind)] += up
            self._received[KINDS.index(kind)] += down

    def set_carried(self, carried: Carried) -> Carried:
        """Set what the wire has carried for the daemon since the beginning; returns what is new besides the messages.

        The daemon still holds messages that it has not sent, or that nobody has read, so the difference to the messages
        can become smaller. Only its growth counts.
        """
        messages = Carried(_of_daemon(self._sent), _of_daemon(self._received))
        found = carried - messages
        before, self._beside = self._beside, Carried(max(self._beside.up, found.up), max(self._beside.down, found.down))
        self._carried = carried
        return self._beside - before


def _of_daemon(counts: Iterable[int]) -> int:
    by_kind = dict(zip(KINDS, counts, strict=True))
    return sum(by_kind.values()) - by_kind["data"]


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

"""Bytes in and out of a session, counted across all its processes in shared memory."""

import ctypes
import multiprocessing
from collections import deque

from core.api.snapshot import Traffic

_RATE_WINDOW = 5.0
"""Seconds over which a rate is taken: averaging comes in bursts of a fraction of a second."""


class TrafficMeter:
    """Made before the first process is forked, so that all of them add to the same two numbers."""

    def __init__(self) -> None:
        self._uploaded = multiprocessing.Value(ctypes.c_uint64)
        self._downloaded = multiprocessing.Value(ctypes.c_uint64)

    @property
    def uploaded(self) -> int:
        return self._uploaded.value

    @property
    def downloaded(self) -> int:
        return self._downloaded.value

    def add_uploaded(self, count: int) -> None:
        with self._uploaded.get_lock():
            self._uploaded.value += count

    def add_downloaded(self, count: int) -> None:
        with self._downloaded.get_lock():
            self._downloaded.value += count


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

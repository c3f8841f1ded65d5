"""Sends snapshots and events to subscribers: at most two snapshots a second, but a change of state at once."""

import asyncio
from collections.abc import Callable

import msgspec

from core.api.protocol import Event, encode
from core.api.snapshot import Progress, Snapshot, Today, Traffic

INTERVAL = 0.5
"""Seconds between two snapshots in which only numbers have changed."""

Listener = Callable[[Snapshot | Event, bytes], None]


class Broadcast:
    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._latest: Snapshot | None = None
        self._sent: Snapshot | None = None
        self._sent_at = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    def add(self, listener: Listener) -> None:
        self._listeners.add(listener)

    def remove(self, listener: Listener) -> None:
        self._listeners.discard(listener)

    @property
    def is_followed(self) -> bool:
        return bool(self._listeners)

    def offer(self, snapshot: Snapshot) -> None:
        """Send the snapshot if it differs from the last one, now or when the interval is over."""
        self._latest = snapshot
        if snapshot == self._sent:
            return
        loop = asyncio.get_running_loop()
        if (
            self._sent is None
            or _without_numbers(snapshot) != _without_numbers(self._sent)
            or loop.time() >= self._sent_at + INTERVAL
        ):
            self._send()
        elif self._timer is None:
            self._timer = loop.call_at(self._sent_at + INTERVAL, self._send)

    def publish(self, event: Event) -> None:
        data = encode(event)
        for listener in tuple(self._listeners):
            listener(event, data)

    def close(self) -> None:
        """Send what still waits for the interval, and nothing after it."""
        self._send()
        self._listeners.clear()

    def _send(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        if self._latest is None or self._latest == self._sent:
            return
        self._sent, self._sent_at = self._latest, asyncio.get_running_loop().time()
        data = encode(self._latest)
        for listener in tuple(self._listeners):
            listener(self._latest, data)


def _without_numbers(snapshot: Snapshot) -> Snapshot:
    """A snapshot without the numbers that change all the time."""
    return msgspec.structs.replace(
        snapshot,
        progress=Progress(),
        traffic=Traffic(),
        transfer=None,
        today=Today(),
        gpu=None,
        processor=None,
        data_month=None,
    )

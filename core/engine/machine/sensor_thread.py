"""Reads the machine's sensors on a thread of its own, so that a hanging service delays nothing."""

import asyncio
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from core.api.sensors import SensorInfo
from core.conditions.machine import Machine, Readings
from core.engine.decision.decide import Decision
from core.engine.decision.rules import machine_rules
from core.engine.decision.states import Contributing, State

SLOW, NORMAL, FAST = 5.0, 1.0, 0.04
"""Seconds between two readings: contributing is not wanted; it is wanted; the volunteer's return would stop it, and is
not announced."""
_FIRST_READING_WITHIN = 5.0
"""Seconds after which hanging sensors count as unknown."""


class SensorThread:
    """Used in the event loop, in which `request_update` is called when readings have changed."""

    def __init__(self, machine: Machine, programs: tuple[str, ...], request_update: Callable[[], None]) -> None:
        self._machine = machine
        self._request_update = request_update
        self._interval = SLOW
        self._alarm: socket.socket | None = None
        """Wakes the thread up."""
        self._closed = False
        self.readings = Readings()
        self.was_read = asyncio.Event()
        """The sensors have been read once; no session starts before."""
        self._programs = programs

    @property
    def ready(self) -> bool:
        return self.was_read.is_set()

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(_FIRST_READING_WITHIN, self._first_reading)
        self._machine.detect_programs(self._programs)
        asleep, self._alarm = socket.socketpair()
        # While a sensor hangs nobody reads, and the event loop must not wait for that.
        self._alarm.setblocking(False)
        threading.Thread(target=self._watch, args=(loop, asleep), name="sensors", daemon=True).start()

    def detect_programs(self, programs: tuple[str, ...]) -> None:
        """Detect these programs."""
        if programs != self._programs:
            self._programs = programs
            self._machine.detect_programs(programs)
            self._read_now()

    def set_interval(self, interval: float) -> None:
        """Read every `interval` seconds, and at once if that is more often than before."""
        hurry, self._interval = interval < self._interval, interval
        if hurry:
            self._read_now()

    def info(self) -> list[SensorInfo]:
        return self._machine.info()

    def close(self) -> None:
        self._closed = True
        self._read_now()
        if self._alarm is not None:
            self._alarm.close()

    def _watch(self, loop: asyncio.AbstractEventLoop, asleep: socket.socket) -> None:
        before: Readings | None = None
        with asleep:
            while not self._closed:
                readings = self._machine.read()
                if loop.is_closed():
                    return
                if readings != before:
                    loop.call_soon_threadsafe(self._deliver, readings)
                before = readings
                self._wait(asleep)

    def _wait(self, asleep: socket.socket) -> None:
        if self._interval == FAST:
            self._machine.wait(asleep.fileno(), NORMAL if self._machine.announces else FAST)
        else:
            select.select([asleep], [], [], self._interval)
        # Before the next reading: a request during it must cause another one.
        if select.select([asleep], [], [], 0)[0]:
            asleep.recv(1024)

    def _read_now(self) -> None:
        if self._alarm is not None:
            # The thread has ended.
            with suppress(OSError):
                self._alarm.send(b".")

    def _first_reading(self) -> None:
        if not self.ready:
            self._deliver(self.readings)

    def _deliver(self, readings: Readings) -> None:
        self.readings = readings
        self.was_read.set()
        if not self._closed:
            self._request_update()


def interval(decision: Decision, state: State) -> float:
    """Seconds between two readings: fast while the volunteer's return, or a game, would stop computing."""
    if not decision.wanted:
        return SLOW
    watches = machine_rules.watches_volunteer(decision.effective, uses_gpu=decision.uses_gpu)
    return FAST if watches and isinstance(state, Contributing) else NORMAL

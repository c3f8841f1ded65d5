"""Reads the machine's sensors in a thread of its own, so that a service that hangs holds up nothing."""

import asyncio
import threading
from collections.abc import Callable

from core.api.sensors import SensorInfo
from core.conditions.machine import Machine, Readings
from core.engine.decision.decide import Decision
from core.engine.decision.rules import machine_rules
from core.engine.decision.states import Contributing, State

RESTING, WATCHFUL, KEEN = 5.0, 1.0, 0.04
"""Seconds between two looks: nothing is wanted; something is; what the volunteer does next would end what goes on."""
_FIRST_LOOK_WITHIN = 5.0
"""Seconds after which a machine whose sensors hang counts as one that does not tell."""


class SensorThread:
    """Lives in the event loop, where `request_update` is called whenever the readings have changed."""

    def __init__(self, machine: Machine, programs: tuple[str, ...], request_update: Callable[[], None]) -> None:
        self._machine = machine
        self._request_update = request_update
        self._pace = RESTING
        self._look = threading.Event()
        self._closed = False
        self.readings = Readings()
        self.ready = False
        """There was a first look. Before it nothing is known, and to begin would be rash."""
        self._programs = programs

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(_FIRST_LOOK_WITHIN, self._first_look)
        self._machine.look_for(self._programs)
        threading.Thread(target=self._watch, args=(loop,), name="senses", daemon=True).start()

    def look_for(self, programs: tuple[str, ...]) -> None:
        """Whether one of these programs runs is in the readings from now on."""
        if programs != self._programs:
            self._programs = programs
            self._machine.look_for(programs)
            self._look.set()

    def attend(self, pace: float) -> None:
        """Look that often from now on, and at once if that is more often than before."""
        hurry, self._pace = pace < self._pace, pace
        if hurry:
            self._look.set()

    def info(self) -> list[SensorInfo]:
        return self._machine.info()

    def close(self) -> None:
        self._closed = True
        self._look.set()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        before: Readings | None = None
        while not self._closed:
            # Cleared first: who asks for a look during this one gets another.
            self._look.clear()
            readings = self._machine.read()
            if loop.is_closed():
                return
            if readings != before:
                loop.call_soon_threadsafe(self._deliver, readings)
            before = readings
            self._look.wait(self._pace)

    def _first_look(self) -> None:
        if not self.ready:
            self._deliver(self.readings)

    def _deliver(self, readings: Readings) -> None:
        self.readings, self.ready = readings, True
        if not self._closed:
            self._request_update()


def pace(decision: Decision, state: State) -> float:
    """How often to read: most often while the volunteer's return, or a game, would end what goes on."""
    if not decision.wanted:
        return RESTING
    watches = machine_rules.watches_volunteer(decision.effective, uses_gpu=decision.uses_gpu)
    return KEEN if watches and isinstance(state, Contributing) else WATCHFUL

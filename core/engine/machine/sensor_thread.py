"""Reads the machine's sensors in a thread of its own, so that a service that hangs holds up nothing."""

import asyncio
import threading
from collections.abc import Callable

import msgspec

from core.api.sensors import SensorInfo
from core.conditions.machine import Machine, Readings
from core.engine.decision import machine_rules
from core.engine.decision.decide import Decision
from core.engine.decision.states import Contributing, State
from core.store.journal import Journal

RESTING, WATCHFUL, KEEN = 5.0, 1.0, 0.04
"""Seconds between two looks: nothing is wanted; something is; what the volunteer does next would end what goes on."""
_FIRST_LOOK_WITHIN = 5.0
"""Seconds after which a machine whose sensors hang counts as one that does not tell."""
_AWAITED = "awaited_programs"


class SensorThread:
    """Lives in the event loop, where `request_update` is called whenever the readings have changed."""

    def __init__(self, machine: Machine, journal: Journal, request_update: Callable[[], None]) -> None:
        self._machine = machine
        self._journal = journal
        self._request_update = request_update
        self._pace = RESTING
        self._look = threading.Event()
        self._closed = False
        self.readings = Readings()
        self.ready = False
        """There was a first look. Before it nothing is known, and to begin would be rash."""
        self.awaited = _programs(journal.read_setting(_AWAITED))
        """The programs during which nothing is contributed."""

    def start(self) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(_FIRST_LOOK_WITHIN, self._first_look)
        self._machine.look_for(self.awaited)
        threading.Thread(target=self._watch, args=(loop,), name="senses", daemon=True).start()

    def wait_for(self, programs: tuple[str, ...]) -> None:
        """Take the volunteer's list: nothing is contributed while one of these runs."""
        self.awaited = programs
        self._journal.setting(_AWAITED, msgspec.json.encode(programs).decode())
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


def _programs(stored: str | None) -> tuple[str, ...]:
    """A list as it was stored; what cannot be read is none."""
    try:
        return () if stored is None else msgspec.json.decode(stored, type=tuple[str, ...])
    except msgspec.DecodeError:
        return ()

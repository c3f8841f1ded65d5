"""Sleep: announced by the system, so that a session ends in time, or detected by a gap in the clocks afterwards."""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from core.api.message import Message
from core.api.sensors import IN_USE, Attempt, SensorInfo
from core.conditions.sleep.announcer import Announcer
from core.conditions.source import RETRY, NotAvailable

GAP = 10.0
"""Seconds between two readings of the clock after which the computer counts as having slept. Peers wait 30 for a silent
peer, and even on a busy processor this thread is delayed far less."""
PACE = 1.0
"""Seconds between two readings of the clocks."""

Clock = Callable[[], float]


@dataclass(frozen=True)
class Sleep:
    """Without arguments: the computer is awake and has not slept."""

    near: bool = False
    """Sleep was announced, and waking not yet."""
    wakes: int = 0
    """How often it woke since the start: sessions from before the last time are out of date."""


class ClockGap:
    """Detects sleep afterwards: a clock moved on while this thread did not run.

    A clock that runs through sleep shows a suspended computer and a stopped process; the wall clock also a virtual
    machine that was paused. Setting the wall clock forward by more than `GAP` restarts a session.
    """

    def __init__(self, clocks: Sequence[Clock]) -> None:
        self._clocks = clocks
        self._seen = [clock() for clock in clocks]

    def has_slept(self) -> bool:
        """Whether the computer has slept since the last call."""
        before, self._seen = self._seen, [clock() for clock in self._clocks]
        return any(now - then >= GAP for then, now in zip(before, self._seen, strict=True))


def through_sleep() -> float:
    """Seconds of a monotonic clock that includes sleep, where the platform has one."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    if sys.platform == "darwin":
        return time.clock_gettime(time.CLOCK_MONOTONIC)
    return time.monotonic()


class SleepWatch:
    """Watches in a thread of its own, which calls `on_change` when `now` changed."""

    def __init__(
        self, announcer: Announcer, on_change: Callable[[], None], clocks: Sequence[Clock] = (through_sleep, time.time)
    ) -> None:
        self.now = Sleep()
        self._announcer = announcer
        self._on_change = on_change
        self._gap = ClockGap(clocks)
        self._tick = clocks[0]
        self._failure: Message | None = Message("not_asked")
        self._retry_at = float("-inf")
        self._closed = threading.Event()

    def start(self) -> None:
        threading.Thread(target=self._watch, name="sleep", daemon=True).start()

    def allow(self) -> None:
        """Stop delaying sleep."""
        self._announcer.allow_sleep()

    def info(self) -> SensorInfo:
        """For doctor."""
        return described(self._announcer, self._failure)

    def close(self) -> None:
        self._closed.set()
        self._announcer.allow_sleep()

    def _watch(self) -> None:
        while not self._closed.is_set():
            before, announced = self.now, self._listen()
            slept = self._gap.has_slept()
            # A gap after an announcement is the announced sleep; its end may be announced later or never.
            near = (before.near and not slept) if announced is None else announced
            woke = slept or (before.near and not near)
            self.now = replace(before, near=near, wakes=before.wakes + woke)
            if woke:
                self._attempt(self._announcer.delay_sleep)
            if self.now != before:
                self._on_change()
        self._announcer.close()

    def _listen(self) -> bool | None:
        if self._failure is None:
            # A lost announcer cannot announce waking.
            return self._attempt(lambda: self._announcer.wait(PACE), False)
        if self._tick() >= self._retry_at:
            self._failure = None
            return self._attempt(self._announcer.open)
        self._closed.wait(PACE)
        return None

    def _attempt(self, act: Callable[[], bool | None], otherwise: bool | None = None) -> bool | None:
        """The result, or `otherwise` if the announcer fails, which is asked again later."""
        if self._failure is not None:
            return otherwise
        try:
            return act()
        except NotAvailable as why:
            self._announcer.close()
            self._failure, self._retry_at = why.message, self._tick() + RETRY
            return otherwise


def described(announcer: Announcer, failure: Message | None) -> SensorInfo:
    if failure is None:
        text = Message("sleep_announced")
        return SensorInfo("sleep", text, True, (Attempt(announcer.name, IN_USE),))
    text = Message("sleep_unannounced")
    return SensorInfo("sleep", text, True, (Attempt(announcer.name, failure), Attempt("clocks", IN_USE)))


def probe(announcer: Announcer) -> SensorInfo:
    """The same, without starting a watch."""
    try:
        announcer.open()
    except NotAvailable as why:
        return described(announcer, why.message)
    announcer.close()
    return described(announcer, None)


def announcer_here() -> Announcer:
    """The announcer of this platform."""
    if sys.platform == "linux":
        from core.conditions.sleep.logind import Logind

        return Logind()
    if sys.platform == "darwin":
        from core.conditions.sleep.macos import PowerManagement

        return PowerManagement()
    if sys.platform == "win32":
        from core.conditions.sleep.windows import SuspendNotification

        return SuspendNotification()
    return Announcer()

"""Records contributions, ends of sessions and reasons for not contributing, and publishes events about them."""

import logging
import os
import time
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TypeVar

from core.api.message import Message
from core.api.protocol import Event
from core.api.reasons import Kind
from core.api.session import EpochDone, Report
from core.api.snapshot import Today
from core.engine.decision.decide import Decision
from core.engine.decision.rules.network_rules import month_begin
from core.engine.decision.states import Contributing, Failed, Leaving, State
from core.store.database import StoreError
from core.store.store import Store

Result = TypeVar("Result")

FLUSH_EVERY = 10.0
"""Seconds, at most, until an increment is written."""

_ENDED = Message("contribution_ended")

_log = logging.getLogger(__name__)


class Recorder:
    def __init__(
        self, store: Store, publish: Callable[[Event], None], steady: Callable[[], float] = time.monotonic
    ) -> None:
        """`steady` is a clock in seconds that is never set and that stops while the computer sleeps."""
        self._steady = steady
        self._watched_at = steady()
        self._idle_for: str | None = None
        self._happened: tuple[str, str | None] | None = None
        self._store = store
        self._journal = store.journal
        self._publish = publish
        self._project: str | None = None
        self._first = False
        self._flushed_at = float("-inf")
        self._failing = False
        self._today = Today()
        self._used = 0

    def begin(self, project: str, run_id: str, now: float) -> None:
        self._project = project
        self._first = _read(lambda: self._store.history.given_to(project)[0], 0) == 0
        self._journal.begin(project, run_id, now)

    def report(self, report: Report, now: float, processor_power: int = 0) -> None:
        """`processor_power` is the processor's watts at full load, as the volunteer set it, or 0."""
        self._journal.add(report.counters, report.traffic, now, processor_power / (os.cpu_count() or 1))
        if self._first and report.counters.samples:
            self._first = False
            self._publish(Event("first_contribution", Message("first_contribution"), now, self._project))

    def epoch(self, done: EpochDone) -> None:
        self._journal.epoch(done)
        message = Message("epoch_done", {"epoch": done.epoch, "samples": done.samples})
        self._publish(Event("epoch_done", message, done.at, self._project, done.epoch, done.loss))

    def end(self, ending: Message, now: float) -> None:
        self._journal.end(ending, now)
        self._project = None

    def follow(self, state: State, decision: Decision, now: float) -> None:
        """Record why nothing is contributed, and as an event each change of that."""
        self.watch(_idle_kind(state, decision), now)
        happened, project = _happened(state, decision), decision.project or self._project
        # A reason whose numbers change is still the same.
        if happened is not None and (happened.kind, project) != self._happened:
            # To begin with, nothing is done, which is no event.
            if self._happened is not None or happened != _ENDED:
                self._journal.notice("state", happened, project, now)
            self._happened = happened.kind, project

    def watch(self, idle_for: str | None, now: float) -> None:
        """Record idle time. `idle_for` is its reason from now on; None: contributing, or not wanted."""
        steady = self._steady()
        passed, self._watched_at = steady - self._watched_at, steady
        if self._idle_for is not None and passed > 0:
            self._journal.idle(self._idle_for, passed, now)
        self._idle_for = idle_for

    def set_zone(self, zone: tzinfo, now: float) -> None:
        """Sum up days in `zone`; if that cannot be written, sums are made of the hours."""
        try:
            self._store.days.set_zone(zone, now)
        except StoreError as error:
            _log.warning("The sums of days cannot be written: %s", error)

    def flush(self, now: float) -> None:
        """Write pending entries if it is time. If that fails, they stay pending, and one event reports it."""
        if not self._journal.pending:
            return
        if not self._journal.is_urgent and self._flushed_at <= now < self._flushed_at + FLUSH_EVERY:
            return
        self._flushed_at = now
        try:
            self._journal.flush()
        except StoreError as error:
            _log.error("The record cannot be written: %s", error)
            if not self._failing:
                self._failing = True
                self._publish(Event("warning", Message("record_waits", {"failure": error.message}), now))
        else:
            self._failing = False

    def next_moment(self, now: float) -> float | None:
        """When `flush` must be called next."""
        if not self._journal.pending and self._idle_for is None:
            return None
        return now if self._journal.is_urgent else max(now, self._flushed_at + FLUSH_EVERY)

    def today(self, now: float) -> Today:
        """The last known value while the record cannot be read."""
        self._today = _read(lambda: self._store.history.today(now), self._today)
        return self._today

    def used_in_month(self, preferences: Mapping[str, int], now: float, zone: tzinfo) -> int:
        """Bytes up and down in the data month, without practice; 0 without a cap. The last known value while the
        record cannot be read."""
        if not preferences["data_cap"]:
            return 0
        begin = month_begin(preferences["data_cap_day"], now, zone)
        self._used = _read(lambda: self._store.history.traffic_since(begin), self._used)
        return self._used


def _happened(state: State, decision: Decision) -> Message | None:
    """What a volunteer would say goes on; None: a change between two such states, or a failure, which has its event."""
    if isinstance(state, Contributing):
        return Message("contribution_began")
    if not decision.wanted:
        return _ENDED
    reason = next(iter(decision.reasons), None)
    if reason is None or reason.kind in {Kind.BACKING_OFF, Kind.GAVE_UP}:
        return None
    return Message(reason.kind, reason.params)


def _read(read: Callable[[], Result], otherwise: Result) -> Result:
    try:
        return read()
    except StoreError as error:
        _log.warning("The record cannot be read: %s", error)
        return otherwise


def ending(state: State, decision: Decision) -> Message:
    """Why a session has ended: its failure, else the first reason to leave, else the first to hold."""
    if isinstance(state, Leaving) and state.failure is not None:
        return state.failure.error
    by_urgency = sorted(decision.reasons, key=lambda reason: reason.hold)
    return Message(by_urgency[0].kind if by_urgency else "done")


def why(state: State, decision: Decision) -> str:
    """Why the engine is in this state, for the log: a failure, or the kinds of reasons."""
    if isinstance(state, Failed):
        return str(state.failure.error)
    return ", ".join(reason.kind for reason in decision.reasons) or ("no reasons" if decision.wanted else "not wanted")


def _idle_kind(state: State, decision: Decision) -> str | None:
    """Why nothing is contributed: the first reason's kind, else the state. None: contributing, or not wanted."""
    if not decision.wanted or isinstance(state, Contributing):
        return None
    return decision.reasons[0].kind if decision.reasons else type(state).__name__.lower()

"""A session's life as a pure state machine: `lifecycle(state, decision, event, now) -> (state, effects)`.

There is at most one session, and each state with one (`core.engine.decision.states`) has a deadline.
"""

from dataclasses import replace
from functools import partial

from core.api.message import Message
from core.api.reasons import Kind
from core.api.session import Fault, Hold, Leave, Report, Resume
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure
from core.engine.decision.states import (
    Contributing,
    Ended,
    Failed,
    Holding,
    Idle,
    Input,
    Joining,
    KillGroup,
    Leaving,
    Starting,
    StartSession,
    State,
    Step,
    Syncing,
    Working,
)
from core.system.backoff import FORGIVEN_AFTER, LONGEST_WAIT, backoff

LONGEST_HOLD = 300.0
"""Seconds of holding before memory is freed."""
HOLD_WITHIN = 30.0
"""Seconds in which a trainer must obey Hold; else it must leave."""
LEAVE_WITHIN = 5.0
"""Seconds that a trainer has for leaving the run."""
KILL_AFTER = 7.0
"""Seconds from Leave until the process group is killed, and between two attempts."""
KILL_SOONER: dict[str, float] = {Kind.GOING_TO_SLEEP: 3.5, Kind.WOKEN: 2.0}
"""Replaces KILL_AFTER around sleep: logind delays it for five seconds, and after it the peers have gone on."""
TIMEOUTS = {"starting": 180.0, "joining": 180.0, "syncing": 600.0, "contributing": 300.0}
"""Seconds without progress in a stage after which the session counts as hanging."""
_NO_PROGRESS: dict[type[State], Message] = {
    Starting: Message("no_progress_starting"),
    Joining: Message("no_progress_joining"),
    Syncing: Message("no_progress_syncing"),
    Contributing: Message("no_progress_contributing"),
}
_COSTS_THE_OTHERS = {"line_too_slow", "run_too_fast", "banned_from_run"}
"""Failures to which a soon retry leads again, while the other peers wait for this one."""
_ENDED_BY_ITSELF = Message("session_ended")


def lifecycle(state: State, decision: Decision, event: Input | None, now: float) -> Step:
    """One step. The caller repeats it without an event until the state no longer changes."""
    match state:
        case Idle():
            return _idle(state, decision, now)
        case Failed():
            return _failed(state, decision, now)
        case Leaving():
            return _leaving(state, decision, event, now)
        case Holding():
            return _holding(state, decision, event, now)
        case Starting() | Joining() | Syncing() | Contributing():
            return _working(state, decision, event, now)


def forgive(state: State) -> State:
    """The state after the volunteer tries again: earlier failures no longer delay it."""
    match state:
        case Failed():
            return Idle()
        case Leaving():
            return replace(state, failures=0, failure=None)
        case _:
            return replace(state, failures=0)


def next_moment(state: State) -> float | None:
    """When the state changes by itself."""
    match state:
        case Idle():
            return None
        case Failed(failure=failure):
            return None if failure.permanent else failure.retry_at
        case Holding(since=since, obeyed=obeyed):
            return since + (LONGEST_HOLD if obeyed else HOLD_WITHIN)
        case _:
            return state.deadline


def _idle(state: Idle, decision: Decision, now: float) -> Step:
    if not decision.go or decision.project is None:
        return replace(state, reasons=decision.reasons), ()
    failures = max(state.failures, decision.failures)
    starting = Starting(decision.project, now + TIMEOUTS["starting"], failures)
    return starting, (StartSession(decision.project),)


def _failed(state: Failed, decision: Decision, now: float) -> Step:
    # A failure is shown only while no other reason prevents the next try.
    others = [reason for reason in decision.reasons if reason.kind not in (Kind.BACKING_OFF, Kind.GAVE_UP)]
    if decision.project != state.project:
        return Idle(decision.reasons), ()
    if not decision.wanted or others or state.failure.is_over(now):
        return Idle(decision.reasons, state.failures), ()
    return state, ()


def _working(state: Working, decision: Decision, event: Input | None, now: float) -> Step:
    ends = _ends(state, decision, event, now)
    if ends is not None:
        return ends
    if decision.reasons:
        if isinstance(state, Contributing):
            return Holding(state.project, decision.reasons, now, failures=state.failures), (Hold(),)
        # Before contributing, nothing in memory is worth holding.
        return _leave(state, decision, now)
    state = _follow(state, event, now) if isinstance(event, Report) else state
    if _is_past(state.deadline, now, max(TIMEOUTS.values())):
        return _leave(state, decision, now, _failure(state, _NO_PROGRESS[type(state)], now))
    return state, ()


def _holding(state: Holding, decision: Decision, event: Input | None, now: float) -> Step:
    ends = _ends(state, decision, event, now)
    if ends is not None:
        return ends
    if not decision.reasons:
        going_on = Contributing(state.project, now + TIMEOUTS["contributing"], state.failures, since=now)
        return going_on, (Resume(),)
    obeyed = state.obeyed or (isinstance(event, Report) and event.stage == "holding")
    longest = LONGEST_HOLD if obeyed else HOLD_WITHIN
    if _is_past(state.since + longest, now, LONGEST_HOLD):
        return _leave(state, decision, now)
    return replace(state, reasons=decision.reasons, obeyed=obeyed), ()


def _leaving(state: Leaving, decision: Decision, event: Input | None, now: float) -> Step:
    if isinstance(event, Ended):
        if state.failure is not None and decision.wanted:
            # The wait begins now, however long the failed session took to end.
            again = _failure(state, state.failure.error, now, permanent=state.failure.permanent)
            return Failed(state.project, again), ()
        # Failures of one project do not count for another.
        failures = state.failures if decision.project in (None, state.project) else 0
        return Idle(decision.reasons, failures), ()
    if _is_past(state.deadline, now, KILL_AFTER):
        return replace(state, deadline=now + KILL_AFTER), (KillGroup(),)
    return state, ()


def _ends(state: Working | Holding, decision: Decision, event: Input | None, now: float) -> Step | None:
    """Whatever ends a session in any state, most certain first."""
    match event:
        case Ended(error=error):
            if not decision.wanted:
                return Idle(decision.reasons, state.failures), ()
            return Failed(state.project, _failure(state, error or _ENDED_BY_ITSELF, now)), ()
        case Fault(error=error, permanent=permanent):
            return _leave(state, decision, now, _failure(state, error, now, permanent=permanent))
        case Report(stage="leaving") if decision.wanted:
            return _leave(state, decision, now, _failure(state, _ENDED_BY_ITSELF, now))
    if not decision.wanted or decision.project != state.project or any(not r.hold for r in decision.reasons):
        return _leave(state, decision, now)
    return None


def _leave(state: Working | Holding, decision: Decision, now: float, failure: Failure | None = None) -> Step:
    seconds = min((KILL_SOONER.get(reason.kind, KILL_AFTER) for reason in decision.reasons), default=KILL_AFTER)
    leaving = Leaving(state.project, decision.reasons, now + seconds, state.failures, failure)
    return leaving, (Leave(min(LEAVE_WITHIN, seconds)),)


def _follow(state: Working, report: Report, now: float) -> Working:
    """Follow the trainer's stage. An impossible stage comes from a report sent before the last command."""
    deadline = partial(_deadline, state, report, now)
    match report.stage:
        case "preparing" if isinstance(state, Starting):
            return Starting(state.project, deadline("starting"), state.failures, report.transfer)
        case "joining" if isinstance(state, Starting | Joining):
            return Joining(state.project, deadline("joining"), state.failures)
        case "syncing":
            return Syncing(state.project, deadline("syncing"), state.failures, report.transfer)
        case "joining":
            # Cut off from its peers: it has to catch up before its work counts again.
            return Syncing(state.project, deadline("syncing"), state.failures)
        case "contributing":
            since = state.since if isinstance(state, Contributing) else now
            failures = 0 if now - since >= FORGIVEN_AFTER else state.failures
            return Contributing(state.project, now + TIMEOUTS["contributing"], failures, since=since)
    return state


def _deadline(state: Working, report: Report, now: float, stage: str) -> float:
    """The deadline is set when a stage begins and extended when its transfer progresses."""
    begins = type(state).__name__.lower() != stage
    moves = report.transfer is not None and report.transfer != state.transfer
    return now + TIMEOUTS[stage] if begins or moves else state.deadline


def _failure(state: Working | Holding | Leaving, error: Message, now: float, *, permanent: bool = False) -> Failure:
    failures = state.failures + 1
    wait = LONGEST_WAIT if error.kind in _COSTS_THE_OTHERS else backoff(failures)
    return Failure(error, permanent, failures, now + wait)


def _is_past(moment: float, now: float, longest: float) -> bool:
    """Whether it is reached or, because the clock was set back, impossibly far away."""
    return now >= moment or moment - now > longest

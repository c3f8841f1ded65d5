"""Selects the joined project for a session: the first in the volunteer's order that can run now. Pure.

Short interruptions do not change the project. Reasons of the running project alone must last a minute before the next
one runs instead, and the preferred one must have been free for a minute before it runs again; for half an hour if its
sessions failed, since each try ends the other project's session.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.api.reasons import Reason
from core.engine.decision.decide import Decision
from core.engine.decision.facts import Failure, Membership
from core.engine.decision.states import Contributing, Failed, Idle, State

SETTLED = 60.0
"""Seconds for which another project must have been better; reasons that end sooner do not count."""
SETTLED_AFTER_FAILURE = 1800.0


@dataclass(frozen=True)
class Candidate:
    """A joined project and its present reasons."""

    project: str
    reasons: tuple[Reason, ...] = ()
    failures: int = 0
    """Failed sessions in a row."""


@dataclass(frozen=True)
class Choice:
    """The selected project, and the better one, which is selected at `change_at` (UTC seconds) if nothing changes."""

    project: str | None = None
    better: str | None = None
    since: float = 0.0
    change_at: float | None = None


@dataclass(frozen=True)
class Selection:
    """State between two selections."""

    choice: Choice = Choice()
    candidates: tuple[Candidate, ...] = ()
    last_failures: Mapping[str, Failure] = field(default_factory=dict)
    """Last failure by project."""

    @property
    def own_reasons(self) -> Mapping[str, tuple[Reason, ...]]:
        return own_reasons(self.candidates)

    def reasons(self, project: str) -> tuple[Reason, ...]:
        """Why this project cannot run while another one could."""
        return self.own_reasons.get(project, ())

    def without(self, over: Callable[[Failure], bool]) -> "Selection":
        """Without the failures that are over."""
        left = {project: failure for project, failure in self.last_failures.items() if not over(failure)}
        return replace(self, last_failures=left)

    def moments(self) -> list[float]:
        """When the choice may change by itself, UTC seconds."""
        ends = [reason.until for candidate in self.candidates for reason in candidate.reasons]
        return [moment for moment in (self.choice.change_at, *ends) if moment is not None]


Judge = Callable[[Membership | None, Failure | None, bool], Decision]
"""The decision about a membership, its last failure, and whether the present session is in it."""


def select(
    before: Selection, memberships: Sequence[Membership], judge: Judge, state: State, now: float
) -> tuple[Decision, Selection]:
    """The decision for the selected project of `memberships`, which are in the volunteer's order."""
    failures = _last_failures(before.last_failures, state)
    active = None if isinstance(state, Idle | Failed) else state.project

    def failure_of(project: str) -> Failure | None:
        # The lifecycle decides when a failure of the selected project is over.
        if isinstance(state, Failed) and state.project == project:
            return state.failure
        return None if project == before.choice.project else failures.get(project)

    def failures_of(project: str) -> int:
        return failures[project].failures if project in failures else 0

    decisions = {each.project: judge(each, failure_of(each.project), each.project == active) for each in memberships}
    candidates = tuple(Candidate(name, made.reasons, failures_of(name)) for name, made in decisions.items())
    choice = choose(before.choice, candidates, now, in_session=active is not None)
    following = Selection(choice, candidates, failures)
    if choice.project is None:
        return judge(None, None, active is not None), following
    return replace(decisions[choice.project], failures=failures_of(choice.project)), following


def choose(before: Choice, candidates: Sequence[Candidate], now: float, *, in_session: bool) -> Choice:
    """`candidates` in the volunteer's order; `in_session`: there is a session in the project of `before`."""
    if not candidates:
        return Choice()
    best = _best(candidates, now)
    selected = before.project if in_session and any(c.project == before.project for c in candidates) else None
    if selected in (None, best.project):
        return Choice(best.project)
    # If the clock was set back, the wait begins again.
    known = before.better == best.project and before.since <= now
    since = before.since if known else now
    change_at = since + (SETTLED_AFTER_FAILURE if best.failures else SETTLED)
    return Choice(best.project) if now >= change_at else Choice(selected, best.project, since, change_at)


def own_reasons(candidates: Sequence[Candidate]) -> dict[str, tuple[Reason, ...]]:
    """By project, the reasons of kinds that not all projects have: another project may run instead."""
    if len(candidates) < 2:
        return {candidate.project: () for candidate in candidates}
    shared = set[str].intersection(*({reason.kind for reason in candidate.reasons} for candidate in candidates))
    return {
        candidate.project: tuple(reason for reason in candidate.reasons if reason.kind not in shared)
        for candidate in candidates
    }


def _last_failures(before: Mapping[str, Failure], state: State) -> Mapping[str, Failure]:
    match state:
        case Failed(project=project, failure=failure):
            return {**before, project: failure}
        case Contributing(project=project, failures=0):
            return {name: failure for name, failure in before.items() if name != project}
        case _:
            return before


def _best(candidates: Sequence[Candidate], now: float) -> Candidate:
    own = own_reasons(candidates)
    free = (c for c in candidates if not any(_lasts(reason, now) for reason in own[c.project]))
    return next(free, candidates[0])


def _lasts(reason: Reason, now: float) -> bool:
    return reason.until is None or reason.until - now > SETTLED

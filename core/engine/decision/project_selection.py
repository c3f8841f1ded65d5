"""Which of the joined projects is at hand: the first in the volunteer's order that can run now. Pure.

A session that runs is not left for every breath of wind. What stands against its project must last a minute before the
next one takes over, and the first must have been free for a minute before it takes over again; half an hour if its
sessions failed, since each try costs the other project its session.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from core.api.reasons import Kind, Reason

SETTLED = 60.0
"""Seconds that another project must have been the better one; what ends sooner by itself is waited for."""
SETTLED_AFTER_FAILURE = 1800.0


@dataclass(frozen=True)
class Candidate:
    """A joined project as it stands now."""

    project: str
    reasons: tuple[Reason, ...] = ()
    failures: int = 0
    """Of its sessions, in a row."""


@dataclass(frozen=True)
class Choice:
    """The project at hand, and the one that would be better, if it stays so until `change_at` (UTC seconds)."""

    project: str | None = None
    better: str | None = None
    since: float = 0.0
    change_at: float | None = None


def choose(before: Choice, candidates: Sequence[Candidate], now: float, *, in_session: bool) -> Choice:
    """`candidates` in the volunteer's order; `in_session`: there is a session in the project of `before`."""
    if not candidates:
        return Choice()
    best = _best(candidates, now)
    selected = before.project if in_session and any(c.project == before.project for c in candidates) else None
    if selected in (None, best.project):
        return Choice(best.project)
    # A clock that was set back begins the wait anew.
    known = before.better == best.project and before.since <= now
    since = before.since if known else now
    change_at = since + (SETTLED_AFTER_FAILURE if best.failures else SETTLED)
    return Choice(best.project) if now >= change_at else Choice(selected, best.project, since, change_at)


def own_reasons(candidates: Sequence[Candidate]) -> dict[str, tuple[Reason, ...]]:
    """By project, what stands against it and not against all of them: for that another project can take over."""
    if len(candidates) < 2:
        return {candidate.project: () for candidate in candidates}
    shared = set[Kind].intersection(*({reason.kind for reason in candidate.reasons} for candidate in candidates))
    return {
        candidate.project: tuple(reason for reason in candidate.reasons if reason.kind not in shared)
        for candidate in candidates
    }


def _best(candidates: Sequence[Candidate], now: float) -> Candidate:
    own = own_reasons(candidates)
    free = (c for c in candidates if not any(_lasts(reason, now) for reason in own[c.project]))
    return next(free, candidates[0])


def _lasts(reason: Reason, now: float) -> bool:
    return reason.until is None or reason.until - now > SETTLED

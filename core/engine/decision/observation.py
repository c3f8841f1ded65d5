"""All inputs of a decision, read once per update, and the decision. Pure."""

from dataclasses import dataclass

from core.api.preferences.preferences import Values
from core.api.preferences.schedule import Outlook
from core.conditions.machine import Readings
from core.engine.decision.decide import Decision, decide
from core.engine.decision.facts import Conditions, Failure, Membership, NetworkUse
from core.engine.decision.intent import Intent
from core.engine.decision.project_selection import Selection, select
from core.engine.decision.states import State


@dataclass(frozen=True)
class Observation:
    """All inputs except the session."""

    now: float
    intent: Intent
    preferences: Values
    week: Outlook
    network: NetworkUse
    machine: Readings
    memberships: tuple[Membership, ...]
    """Those of the intent, in the volunteer's order."""
    near_sleep: bool


@dataclass(frozen=True)
class SessionFacts:
    """Facts about the present session."""

    gpu: str | None = None
    """UUID of its GPU, empty for the processor; None without a session."""
    slept: bool = False
    """The computer has slept since it began."""


def decide_among(
    seen: Observation, session: SessionFacts, before: Selection, state: State
) -> tuple[Decision, Selection]:
    """The decision for the selected project, and the selection to pass to the next call."""

    def judge(membership: Membership | None, failure: Failure | None, in_session: bool) -> Decision:
        gpu = session.gpu if in_session else None
        conditions = Conditions(failure, gpu, seen.machine, seen.network, seen.near_sleep, session.slept)
        return decide(seen.intent, seen.preferences, conditions, membership, seen.now, week=seen.week)

    return select(before, seen.memberships, judge, state, seen.now)

"""All inputs of a decision, read once per update; the decision; and when it may change without an input. Pure."""

from dataclasses import dataclass, replace

from core.api.preferences.preferences import Values
from core.api.preferences.remedies import is_lifted
from core.api.preferences.schedule import Outlook
from core.engine.decision import lifecycle
from core.engine.decision.decide import Decision, decide
from core.engine.decision.facts import Conditions, Failure, Membership
from core.engine.decision.intent import Intent
from core.engine.decision.project_selection import Selection, select
from core.engine.decision.rules import machine_rules
from core.engine.decision.states import Failed, State


@dataclass(frozen=True)
class Observation:
    now: float
    intent: Intent
    preferences: Values
    week: Outlook
    memberships: tuple[Membership, ...]
    """Those of the intent, in the volunteer's order."""
    conditions: Conditions


def decide_among(seen: Observation, before: Selection, state: State) -> tuple[Decision, Selection]:
    """The decision for the selected project, and the selection to pass to the next call."""

    def judge(membership: Membership | None, failure: Failure | None, in_session: bool) -> Decision:
        session_gpu = seen.conditions.session_gpu if in_session else None
        conditions = replace(seen.conditions, failure=failure, session_gpu=session_gpu)
        return decide(seen.intent, seen.preferences, conditions, membership, seen.now, week=seen.week)

    return select(before, seen.memberships, judge, state, seen.now)


def moments(seen: Observation, decision: Decision, selection: Selection, state: State) -> list[float | None]:
    """When the decision may change, UTC seconds; None: never."""
    machine, network = seen.conditions.machine, seen.conditions.network
    return [
        seen.intent.snoozed_until,
        seen.intent.stop_at,
        seen.intent.override_until,
        decision.schedule.next_at,
        network.next_edge,
        machine_rules.next_moment(machine, decision.effective, seen.now, uses_gpu=decision.uses_gpu),
        lifecycle.next_moment(state),
        *selection.moments(),
        *(reason.until for reason in decision.reasons),
    ]


def lift_failures(state: State, selection: Selection, before: Values, after: Values) -> tuple[State, Selection]:
    """Try again what failed by a limit that allows more than with the preferences `before`."""

    def lifted(failure: Failure) -> bool:
        return is_lifted(failure.error, before, after)

    if isinstance(state, Failed) and lifted(state.failure):
        state = lifecycle.forgive(state)
    return state, selection.without(lifted)

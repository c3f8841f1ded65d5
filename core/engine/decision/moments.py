"""When a decision may change without an input: the engine's next alarm. Pure."""

from core.engine.decision import lifecycle
from core.engine.decision.decide import Decision
from core.engine.decision.observation import Observation
from core.engine.decision.project_selection import Selection
from core.engine.decision.rules import machine_rules
from core.engine.decision.states import State


def moments(seen: Observation, decision: Decision, selection: Selection, state: State) -> list[float | None]:
    """UTC seconds; None: never."""
    away = machine_rules.next_moment(seen.machine, decision.effective, seen.now, uses_gpu=decision.uses_gpu)
    return [
        seen.intent.snoozed_until,
        seen.intent.stop_at,
        seen.intent.override_until,
        decision.schedule.next_at,
        seen.network.next_edge,
        away,
        lifecycle.next_moment(state),
        *selection.moments(),
        *(reason.until for reason in decision.reasons),
    ]

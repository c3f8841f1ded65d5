"""Changes of state as log lines. Pure."""

from core.engine.decision.decide import Decision
from core.engine.decision.states import Failed, State


def change(before: State, after: State, decision: Decision) -> str:
    """For example `Contributing -> Holding (in_use, on_battery)`."""
    return f"{_name(before)} -> {_name(after)} ({_why(after, decision)})"


def _why(state: State, decision: Decision) -> str:
    if isinstance(state, Failed):
        return str(state.failure.error)
    return ", ".join(reason.kind for reason in decision.reasons) or ("no reasons" if decision.wanted else "not wanted")


def _name(state: State) -> str:
    return type(state).__name__

"""What goes on, in a few words for the log and the record. Pure."""

from core.engine.decision.decide import Decision
from core.engine.decision.states import Contributing, Failed, State


def change(before: State, after: State, decision: Decision) -> str:
    """From one state to another, and why."""
    return f"{_name(before)} -> {_name(after)} ({_why(after, decision)})"


def ending(decision: Decision) -> str:
    """Why a session has ended that nobody found fault with."""
    return _kinds(decision) or "done"


def idle_for(state: State, decision: Decision) -> str | None:
    """Why nothing is contributed though it is wanted; None: it is, or nobody wants it."""
    if not decision.wanted or isinstance(state, Contributing):
        return None
    return decision.reasons[0].kind.value if decision.reasons else _name(state).lower()


def _why(state: State, decision: Decision) -> str:
    if isinstance(state, Failed):
        return state.failure.error
    return _kinds(decision) or ("nothing against it" if decision.wanted else "not wanted")


def _kinds(decision: Decision) -> str:
    return ", ".join(reason.kind for reason in decision.reasons)


def _name(state: State) -> str:
    return type(state).__name__

"""Which GPU a session computes on, and the reasons not to compute on it. Pure.

A session uses one GPU or the processor until it ends.
"""

from collections.abc import Iterator

import msgspec

from core.api.message import Message
from core.api.preferences.effective import effective_on_gpu, settings_of
from core.api.preferences.preferences import Values
from core.api.reasons import Reason, Severity
from core.api.session_settings import SessionSettings
from core.api.snapshot import GpuUse
from core.conditions.gpu import GpuState, GpuStates
from core.conditions.presence import Presence
from core.engine.decision.facts import Facts

GIVES_BACK_AFTER = 20.0
"""Seconds of holding for another program until the GPU's memory is freed too."""

_SMOOTH = 100
_STILL_THERE = 60.0
"""Seconds after the last input in which the volunteer counts as present."""


def choose(states: GpuStates, effective: Values, in_use: str | None) -> GpuState | None:
    """The GPU to compute on: the one in use as long as it may be, else a free one with the most memory; None for none.

    `in_use` is the UUID of the session's GPU, empty if it uses the processor, None without a session.
    """
    allowed = [state for state in states.present if states.can_learn and may_use(effective, state.gpu.number)]
    if kept := next((state for state in allowed if state.gpu.uuid == in_use), None):
        return kept
    return max(allowed, key=lambda state: (not state.taken_by, state.gpu.memory_total), default=None)


def gpu_use(states: GpuStates, uuid: str) -> GpuUse | None:
    """The GPU with this UUID as front ends see it."""
    gpu = next((state.gpu for state in states.present if state.gpu.uuid == uuid), None)
    if gpu is None:
        return None
    power = None if gpu.power is None else round(gpu.power)
    return GpuUse(gpu.name, gpu.utilization, gpu.temperature, power, gpu.memory_used, gpu.memory_total)


def may_use(effective: Values, number: int) -> bool:
    return bool(effective_on_gpu(effective, number)["gpu_use"])


def settings_on(state: GpuState | None, effective: Values, latency_target: int) -> SessionSettings:
    """A session's settings, from preferences and conditions."""
    gpu = state.gpu.uuid if state else ""
    return msgspec.structs.replace(settings_of(effective), gpu=gpu, latency_target=latency_target)


def latency_target(presence: Presence, now: float, *, uses_gpu: bool) -> int:
    """Milliseconds that a microbatch may take while the volunteer is present; 0: any.

    A GPU draws nothing to the screen during a microbatch. If presence is not known, the volunteer counts as present.
    """
    last = presence.last_input
    present = uses_gpu if last is None else now - last < _STILL_THERE
    return _SMOOTH if present else 0


def reasons(facts: Facts) -> Iterator[Reason]:
    """`facts.effective` has the values for the chosen GPU."""
    if not facts.intent.wanted:
        return
    chosen, in_use = facts.gpu, facts.conditions.session_gpu
    if _is_lost(facts):
        cause = facts.conditions.machine.gpus.failure or Message("gpu_not_listed")
        yield Reason("gpu_missing", hold=False, params={"cause": cause}, severity=Severity.PROBLEM)
    elif in_use is not None and in_use != (chosen.gpu.uuid if chosen else ""):
        yield Reason("gpu_changed", hold=False)
    if chosen is not None:
        yield from _of(chosen, facts)


def _of(chosen: GpuState, facts: Facts) -> Iterator[Reason]:
    effective = facts.effective
    if chosen.taken_since is not None:
        # If the clock was set back, the memory must still be freed.
        patient = 0 <= facts.now - chosen.taken_since < GIVES_BACK_AFTER
        yield Reason("gpu_taken", hold=patient, params={"programs": list(chosen.taken_by)})
    if chosen.coolest is not None and chosen.coolest >= effective["gpu_temperature"]:
        yield Reason("gpu_hot", hold=True, params={"temperature": chosen.coolest}, severity=Severity.NOTICE)
    needed = facts.membership.gpu_memory if facts.membership else 0
    room = min(chosen.gpu.memory_total - chosen.others_memory, effective["gpu_memory"] or chosen.gpu.memory_total)
    if room < needed:
        params = {"needed": needed, "available": room}
        yield Reason("gpu_memory", hold=False, params=params, severity=Severity.NOTICE)


def _is_lost(facts: Facts) -> bool:
    """Whether the chosen GPU does not answer."""
    states, in_use = facts.conditions.machine.gpus, facts.conditions.session_gpu
    if not states.can_learn or not facts.effective["gpu_use"]:
        return False
    gone = [gpu.uuid for gpu in states.gone if may_use(facts.effective, gpu.number)]
    return in_use in gone or (facts.gpu is None and bool(gone or states.failure))

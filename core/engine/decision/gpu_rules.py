"""Which GPU a session computes on, and what stands against it: pure.

A session uses one GPU or the processor, for as long as it lives. None of this matters where no GPU may be used.
"""

from collections.abc import Mapping

import msgspec

from core.api.phrases import phrase
from core.api.preferences.preferences import effective_on_gpu, settings_of
from core.api.reasons import Kind
from core.api.session_settings import SessionSettings
from core.api.snapshot import GpuUse
from core.conditions.gpu import GpuState, GpuStates
from core.conditions.presence import Presence

GIVES_BACK_AFTER = 20.0
"""Seconds of holding for another program until the GPU's memory is given back to it too."""

_SMOOTH = 100
_STILL_THERE = 60.0
"""Seconds after the last input for which the volunteer counts as there."""

Objection = tuple[Kind, str, bool]
"""Kind, detail, and whether holding is enough."""


def choose(states: GpuStates, effective: Mapping[str, int], in_use: str | None) -> GpuState | None:
    """The GPU to compute on: the one in use as long as it may be, else a free one with the most memory; None for none.

    `in_use` is the UUID of the session's GPU, empty if it uses the processor, None without a session.
    """
    allowed = [state for state in states.present if states.can_learn and may_use(effective, state.gpu.number)]
    if kept := next((state for state in allowed if state.gpu.uuid == in_use), None):
        return kept
    return max(allowed, key=lambda state: (not state.taken_by, state.gpu.memory_total), default=None)


def look(states: GpuStates, uuid: str) -> GpuUse | None:
    """The GPU with this UUID as front ends see it."""
    gpu = next((state.gpu for state in states.present if state.gpu.uuid == uuid), None)
    if gpu is None:
        return None
    power = None if gpu.power is None else round(gpu.power)
    return GpuUse(gpu.name, gpu.utilization, gpu.temperature, power, gpu.memory_used, gpu.memory_total)


def may_use(effective: Mapping[str, int], number: int) -> bool:
    return bool(effective_on_gpu(effective, number)["gpu_use"])


def settings_on(state: GpuState | None, effective: Mapping[str, int], latency_target: int) -> SessionSettings:
    """What applies to a session: what was chosen, and what follows from conditions."""
    gpu = state.gpu.uuid if state else ""
    return msgspec.structs.replace(settings_of(effective), gpu=gpu, latency_target=latency_target)


def latency_target(presence: Presence, now: float, *, uses_gpu: bool) -> int:
    """Milliseconds that a microbatch may take while the volunteer is there, 0 for any.

    A GPU draws nothing before the microbatch is done: where nobody knows, somebody may be looking.
    """
    last = presence.last_input
    present = uses_gpu if last is None else now - last < _STILL_THERE
    return _SMOOTH if present else 0


def objections(
    states: GpuStates, effective: Mapping[str, int], in_use: str | None, needs: int, now: float
) -> list[Objection]:
    """Reasons against computing on a GPU. `effective` applies to the chosen one; `needs` are bytes of its memory."""
    chosen = choose(states, effective, in_use)
    found: list[Objection] = []
    lost = _lost(states, effective, in_use, chosen)
    if lost is not None:
        found.append((Kind.GPU_MISSING, lost, False))
    elif in_use is not None and in_use != (chosen.gpu.uuid if chosen else ""):
        found.append((Kind.GPU_CHANGED, "", False))
    if chosen is not None:
        found += _of(chosen, effective, needs, now)
    return found


def _of(chosen: GpuState, effective: Mapping[str, int], needs: int, now: float) -> list[Objection]:
    found: list[Objection] = []
    if chosen.taken_since is not None:
        # A clock that was set back must not keep the memory.
        patient = 0 <= now - chosen.taken_since < GIVES_BACK_AFTER
        found.append((Kind.GPU_TAKEN, ", ".join(chosen.taken_by), patient))
    if chosen.coolest is not None and chosen.coolest >= effective["gpu_temperature"]:
        found.append((Kind.GPU_HOT, f"{chosen.coolest} °C", True))
    room = min(chosen.gpu.memory_total - chosen.others_memory, effective["gpu_memory"] or chosen.gpu.memory_total)
    if room < needs:
        text = phrase(f"{needs / 2**30:.1f} GiB are needed, {room / 2**30:.1f} GiB may be used")
        found.append((Kind.GPU_MEMORY, text, False))
    return found


def _lost(states: GpuStates, effective: Mapping[str, int], in_use: str | None, chosen: GpuState | None) -> str | None:
    """Why the GPU that would be used does not answer; None if none is missed."""
    if not states.can_learn or not effective["gpu_use"]:
        return None
    why = str(states.trouble or "") or phrase("the driver does not list it any more")
    gone = [gpu for gpu in states.gone if may_use(effective, gpu.number)]
    if any(gpu.uuid == in_use for gpu in gone):
        return why
    return why if chosen is None and (gone or states.trouble) else None

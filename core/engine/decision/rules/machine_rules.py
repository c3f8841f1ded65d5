"""Reasons from what the machine is doing, and its state as front ends see it. Pure."""

from collections.abc import Iterator

from core.api.message import Message
from core.api.preferences.preferences import Values
from core.api.project.manifest import Manifest
from core.api.project.peer_address import is_far
from core.api.reasons import Reason, Severity
from core.api.snapshot import Surroundings
from core.conditions.machine import Readings
from core.engine.decision.facts import Facts

_GRID = 10.0
"""Seconds to which the last input is rounded, so that typing does not cause many snapshots."""


def reasons(facts: Facts) -> Iterator[Reason]:
    """Unknown readings are no reason."""
    if not facts.intent.wanted:
        return
    readings, effective = facts.conditions.machine, facts.effective
    if not facts.conditions.compute_ready:
        yield Reason("no_compute_runtime", hold=False, severity=Severity.NOTICE)
    wait, last = _idle_wait(effective, uses_gpu=facts.uses_gpu), readings.presence.last_input
    if wait and last is not None and facts.now - last < wait:
        yield Reason("in_use", hold=True, params={"wait": wait})
    # A game needs the GPU's memory, which only LEAVE frees. On the processor HOLD is enough.
    if readings.full_screen.what and not effective["full_screen"]:
        yield Reason("full_screen", hold=not facts.uses_gpu, params={"what": readings.full_screen.what})
    if readings.programs.names:
        params = {"programs": list(readings.programs.names)}
        yield Reason("program_running", hold=not facts.uses_gpu, params=params)
    others, most = readings.processor.others, effective["busy_processor"]
    if most and others is not None and others >= most:
        yield Reason("processor_busy", hold=True, params={"share": others / 100, "limit": most / 100})
    yield from _of_power(readings, effective)
    if facts.membership is not None and facts.membership.needs_internet:
        yield from _of_network(readings, effective)


def needs_internet(manifest: Manifest | None) -> bool:
    """Whether the run's initial peers are on the internet; a run in the local network needs none."""
    return manifest is None or any(map(is_far, manifest.initial_peers))


def next_moment(readings: Readings, effective: Values, now: float, *, uses_gpu: bool) -> float | None:
    """When the volunteer counts as away without further input."""
    wait, last = _idle_wait(effective, uses_gpu=uses_gpu), readings.presence.last_input
    return last + wait if last is not None and now < last + wait else None


def watches_volunteer(effective: Values, *, uses_gpu: bool) -> bool:
    """Whether the volunteer's return, or a game, would stop computing."""
    return _idle_wait(effective, uses_gpu=uses_gpu) > 0 or not effective["full_screen"]


def surroundings(readings: Readings) -> Surroundings:
    last = readings.presence.last_input
    return Surroundings(
        last_input=None if last is None else last - last % _GRID,
        processor=readings.processor.others,
        on_battery=readings.power.on_battery,
        battery_level=readings.power.level,
        online=readings.network.online,
        metered=readings.network.metered,
    )


def _idle_wait(effective: Values, *, uses_gpu: bool) -> int:
    """Seconds without input after which the volunteer counts as away."""
    return int(effective["idle_gpu" if uses_gpu else "idle_processor"])


def _of_power(readings: Readings, effective: Values) -> Iterator[Reason]:
    power, lowest = readings.power, effective["battery_level"]
    if not power.on_battery:
        return
    if not effective["on_battery"]:
        yield Reason("on_battery", hold=True)
    if power.level is not None and power.level < lowest:
        yield Reason("battery_low", hold=False, params={"lowest": lowest})


def _of_network(readings: Readings, effective: Values) -> Iterator[Reason]:
    if readings.network.online is False:
        yield Reason("offline", hold=True, params={"cause": Message("no_internet")}, severity=Severity.NOTICE)
    if readings.network.metered and not effective["metered"]:
        # A holding session still exchanges data with its peers.
        yield Reason("metered", hold=False)

"""What of the machine's doings stands against contributing, and how front ends see them. Pure."""

from collections.abc import Iterator, Mapping

from core.api.phrases import phrase
from core.api.project.manifest import Manifest
from core.api.project.peer_address import is_far
from core.api.reasons import Kind
from core.api.snapshot import Surroundings
from core.conditions.machine import Readings

_GRID = 10.0
"""Seconds by which the last input moves in snapshots: someone who types must not cause one after the other."""

Objection = tuple[Kind, str, bool]
"""What, the detail of its sentence, and whether HOLD is enough."""


def objections(
    readings: Readings, effective: Mapping[str, int], now: float, *, uses_gpu: bool, needs_internet: bool
) -> Iterator[Objection]:
    """Everything that stands against a session now. What is unknown stands against nothing."""
    wait, last = effective["idle_gpu" if uses_gpu else "idle_processor"], readings.presence.last_input
    if wait and last is not None and now - last < wait:
        yield Kind.IN_USE, _span(wait), True
    # A game wants the whole card: its memory is given back. On the processor a pause is enough.
    if readings.full_screen.what and not effective["full_screen"]:
        yield Kind.FULL_SCREEN, str(readings.full_screen.what), not uses_gpu
    if readings.programs.names:
        yield Kind.PROGRAM_RUNNING, ", ".join(readings.programs.names), not uses_gpu
    yield from _of_power(readings, effective)
    if needs_internet:
        yield from _of_network(readings, effective)


def needs_internet(manifest: Manifest | None) -> bool:
    """Whether the run's first contacts are elsewhere; those of a run at home need no internet and cost nothing."""
    return manifest is None or any(map(is_far, manifest.initial_peers))


def next_moment(readings: Readings, effective: Mapping[str, int], now: float, *, uses_gpu: bool) -> float | None:
    """When the volunteer counts as away, if nobody touches anything until then."""
    wait, last = effective["idle_gpu" if uses_gpu else "idle_processor"], readings.presence.last_input
    return last + wait if last is not None and now < last + wait else None


def watches_volunteer(effective: Mapping[str, int], *, uses_gpu: bool) -> bool:
    """Whether the volunteer's return, or a game, would end what goes on now."""
    return effective["idle_gpu" if uses_gpu else "idle_processor"] > 0 or not effective["full_screen"]


def look(readings: Readings) -> Surroundings:
    """The readings as snapshots have them."""
    last = readings.presence.last_input
    return Surroundings(
        last_input=None if last is None else last - last % _GRID,
        on_battery=readings.power.on_battery,
        battery_level=readings.power.level,
        online=readings.network.online,
        metered=readings.network.metered,
    )


def _of_power(readings: Readings, effective: Mapping[str, int]) -> Iterator[Objection]:
    power = readings.power
    if not power.on_battery:
        return
    if not effective["on_battery"]:
        yield Kind.ON_BATTERY, "", True
    if power.level is not None and power.level < effective["battery_level"]:
        yield Kind.BATTERY_LOW, str(effective["battery_level"]), False


def _of_network(readings: Readings, effective: Mapping[str, int]) -> Iterator[Objection]:
    if readings.network.online is False:
        yield Kind.OFFLINE, "", True
    if readings.network.metered and not effective["metered"]:
        yield Kind.METERED, "", False


def _span(seconds: int) -> str:
    if seconds % 60:
        return phrase("1 second") if seconds == 1 else phrase(f"{seconds:d} seconds")
    minutes = seconds // 60
    return phrase("1 minute") if minutes == 1 else phrase(f"{minutes:d} minutes")

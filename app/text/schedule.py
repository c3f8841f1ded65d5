"""The schedule in sentences: what it says now, what it says next, and what its levels mean. Pure."""

from collections.abc import Sequence
from datetime import tzinfo

from app.text import preferences
from app.text.formats import numbers, times
from app.text.formats.numbers import percent
from app.text.formats.sentences import closed
from app.text.i18n import tr, trn
from app.text.typed import week
from core.api.preferences.commands import PreferenceInfo
from core.api.preferences.preferences import GENTLE
from core.api.preferences.schedule import Level, ScheduleState, outlook
from core.api.session_settings import Limits


def next_change(state: ScheduleState, now: float) -> str:
    """The line on the home page."""
    if state.next_at is None or state.next_level is None:
        return tr("{level} at all times", level=level_now(state))
    return tr(
        "Next change: {level}, {time}",
        level=week.power_name(state.next_level),
        time=times.clock(state.next_at, now),
    )


def summary(state: ScheduleState, now: float) -> str:
    """All that a status line says: Off. Next change: full power, 22:00."""
    level = "" if state.next_at is None else f"{closed(level_now(state))} "
    return " ".join(filter(None, [level + closed(next_change(state, now)), override(state, now)]))


def level_now(state: ScheduleState) -> str:
    """The level, as a headline."""
    return {Level.OFF: tr("Off"), Level.GENTLE: tr("Gentle"), Level.FULL: tr("Full power")}[state.level]


def until(state: ScheduleState, cells: str, zone: tzinfo, now: float) -> str:
    """How long that lasts, and what comes then."""
    if state.next_at is None or state.next_level is None:
        return tr("at all times")
    following = outlook(cells, state.next_at, zone)
    values = {"time": times.clock(state.next_at, now), "level": week.power_name(state.next_level)}
    if following.next_at is None:
        return tr("until {time}, then {level}", **values)
    return tr("until {time}, then {level} until {end}", end=times.clock(following.next_at, now), **values)


def override(state: ScheduleState, now: float) -> str:
    """Empty unless the volunteer has overridden the schedule; true also of one who has paused, or without an engine."""
    end = state.override_until
    changes = state.next_at is not None and (end is None or state.next_at < end)
    if not state.overridden or (state.level is not Level.OFF and not changes):
        return ""
    if state.override_until is None:
        return tr("The schedule does not count until you resume it.")
    return tr("The schedule does not count until {time}.", time=times.clock(state.override_until, now))


def of_which_full(cells: str) -> str:
    full, gentle = week.hours(cells, Level.FULL), week.hours(cells, Level.GENTLE)
    if not full and not gentle:
        return tr("nothing is contributed by the schedule")
    if not gentle:
        return tr("all of it at full power")
    return tr(
        "of which {full} h at full power, {gentle} h gentle", full=numbers.figure(full), gentle=numbers.figure(gentle)
    )


def level_meaning(level: Level, limits: Sequence[PreferenceInfo], *, uses_gpu: bool, cores: int) -> str:
    """A level in numbers: what computes, and what goes over the line if that is limited. `cores` of this computer."""
    if level is Level.OFF:
        return tr("nothing runs")
    gentle = level is Level.GENTLE
    known = {limit.name.removeprefix(GENTLE): limit for limit in limits if limit.name.startswith(GENTLE) is gentle}
    # Of a limit for gentle hours, the effective value is what would apply in one.
    chosen = ((name, limit.effective if gentle else limit.value) for name, limit in known.items())
    values = {name: value for name, value in chosen if isinstance(value, int)}
    names = (("gpu_share",) if uses_gpu else ()) + ("upload_limit", "download_limit")
    parts = [preferences.short(known[name], values[name]) for name in names if values.get(name)]
    if not uses_gpu and "threads" in values:
        parts.insert(0, _threads(values["threads"], values["processor_share"], cores))
    return " · ".join(parts) or tr("with your limits")


def _threads(limit: int, share: int, cores: int) -> str:
    """How many threads compute, and what part of the time."""
    number = min(cores, Limits(threads=limit).threads_on(cores))
    threads = trn("1 of {cores} threads", "{n} of {cores} threads", number, n=number, cores=cores)
    return (
        threads if share == 100 else tr("{threads}, {share} of the time", threads=threads, share=percent(share / 100))
    )

"""How the command line words what the engine says. Pure: the present moment is passed in."""

from datetime import datetime

from app.text import units
from core.api.preferences.preferences import PREFERENCES
from core.api.preferences.schedule import ScheduleState
from core.api.reasons import Reason
from core.api.record.record import JOULES_IN_KWH, Cost, Sums
from core.api.session_settings import Limits
from core.api.snapshot import Place, Snapshot, State

STATES: dict[State, str] = {
    "idle": "Idle",
    "starting": "Starting",
    "joining": "Looking for peers",
    "syncing": "Catching up from peers",
    "contributing": "Contributing",
    "holding": "On hold",
    "leaving": "Stopping",
    "failed": "Failed",
}


def clean(text: str) -> str:
    """Text from the network without what could steer a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 sample`, `1,234 samples`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: float) -> str:
    """Bytes with three digits at most: `34 MB`."""
    for name in ("B", "kB", "MB", "GB", "TB"):
        if number < 999.5 or name == "TB":
            return f"{number:.1f} {name}" if 0 < number < 9.95 and name != "B" else f"{number:.0f} {name}"
        number /= 1000
    raise AssertionError


def rate(number: float) -> str:
    return f"{size(number)}/s"


def speed(samples_per_second: float) -> str:
    return f"{samples_per_second:.1f}/s" if samples_per_second < 99.95 else f"{samples_per_second:,.0f}/s"


def duration(seconds: float) -> str:
    """The two largest units: `45 s`, `12 min`, `1 h 20 min`, `3 d 4 h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if minutes < 60:
        return f"{minutes} min"
    if hours < 24:
        return f"{hours} h {minutes % 60} min" if minutes % 60 else f"{hours} h"
    return f"{days} d {hours % 24} h" if hours % 24 else f"{days} d"


def clock(at: float, now: float) -> str:
    """A moment as one says it today: `23:00`, `Mon 23:00` within six days, else with the date. Local time."""
    moment, present = datetime.fromtimestamp(at).astimezone(), datetime.fromtimestamp(now).astimezone()
    if moment.date() == present.date():
        return f"{moment:%H:%M}"
    return f"{moment:%a %H:%M}" if abs(at - now) < 6 * 86400 else f"{moment:%Y-%m-%d %H:%M}"


def reason(value: Reason, now: float) -> str:
    text = clean(value.text)
    return text if value.until is None else f"{text.rstrip('.')} until {clock(value.until, now)}."


def project(snapshot: Snapshot) -> str:
    return clean(snapshot.project_name or snapshot.project or "no project")


def headline(snapshot: Snapshot, now: float) -> str:
    """What is going on, in one line; the reasons are lines of their own."""
    state = STATES[snapshot.state]
    if snapshot.catching_up:
        state += f", epoch {snapshot.catching_up.from_epoch} → {snapshot.catching_up.to_epoch}"
    if snapshot.state == "idle" and not snapshot.engine_pid:
        return "Idle: the engine is not running."
    if snapshot.state == "contributing":
        return f"Contributing to {project(snapshot)}"
    if snapshot.state == "failed":
        again = f" Trying again at {clock(snapshot.retry_at, now)}." if snapshot.retry_at else ""
        return f"Failed: {clean(snapshot.error or 'the session ended.')}{again}"
    if snapshot.transfer and snapshot.transfer.total:
        return f"{state}: {size(snapshot.transfer.done)} of {size(snapshot.transfer.total)}"
    if snapshot.state in ("idle", "holding") and snapshot.reasons:
        return f"{state}: {' '.join(reason(value, now) for value in snapshot.reasons)}"
    return state if snapshot.state == "idle" else f"{state} ({project(snapshot)})"


def epoch(snapshot: Snapshot) -> str:
    """`Epoch 17: 63 % of 4,096 samples, 5 peers, loss 4.312`."""
    progress = snapshot.progress
    parts = [f"{share(snapshot):.0%} of {progress.target_batch_size:,} samples"] if progress.target_batch_size else []
    parts.append(count(progress.peers, "peer"))
    if progress.loss is not None:
        parts.append(f"loss {progress.loss:.3f}")
    return f"Epoch {progress.epoch:,}: {', '.join(parts)}"


def share(snapshot: Snapshot) -> float:
    """How much of the epoch the swarm has, 0 to 1."""
    progress = snapshot.progress
    return min(progress.epoch_samples / progress.target_batch_size, 1.0) if progress.target_batch_size else 0.0


def limits(values: Limits) -> str:
    """Those that differ from what Idlehive comes with."""
    chosen = [name for name in values.__struct_fields__ if getattr(values, name) != PREFERENCES[name].default]
    return ", ".join(f"{name} {limit(getattr(values, name), name)}" for name in chosen) or "as Idlehive comes"


def limit(value: int, name: str) -> str:
    declared = PREFERENCES[name]
    return units.write(value, declared.unit, declared.zero)


def schedule(state: ScheduleState, now: float) -> str:
    """What the week says: `Off until 22:00, then full.`"""
    if state.next_at is None:
        says = f"{state.level.title()} at all times."
    else:
        says = f"{state.level.title()} until {clock(state.next_at, now)}, then {state.next_level}."
    if not state.overridden:
        return says
    until = clock(state.override_until, now) if state.override_until is not None else "`idlehive resume`"
    return f"{says} Overridden by you until {until}."


def place(value: Place) -> str:
    """Among all who publish what they give to the project."""
    return f"{value.place:,} of {value.volunteers:,}, {value.share:.0%} of all samples as the project counts them"


def work(flops: float) -> str:
    """Floating-point operations with three digits at most: `3.2 PFLOP`."""
    for name in ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"):
        if flops < 999.5 or name == "EFLOP":
            return f"{flops:.1f} {name}" if 0 < flops < 9.95 and name != "FLOP" else f"{flops:,.0f} {name}"
        flops /= 1000
    raise AssertionError


def energy(sums: Sums) -> str:
    """Measured and estimated together; `~` if some of it is an estimate, `-` if nothing is known."""
    if sums.energy is None:
        return "-"
    return f"{'~' if sums.estimated_joules else ''}{sums.energy / JOULES_IN_KWH:.2f} kWh"


def cost(value: Cost) -> str:
    """What the energy cost; empty without figures of the volunteer's."""
    parts = [f"{value.money:,.2f} {value.currency}".strip()] if value.money is not None else []
    if value.co2 is not None:
        parts.append(f"{value.co2 / 1000:,.2f} kg CO2" if value.co2 >= 1000 else f"{value.co2:,.0f} g CO2")
    return ", ".join(parts)

"""Figures, and current use beside its limit, for the tiles of the home page. Pure."""

from typing import NamedTuple

from app.text import progress, status
from app.text.formats import amounts, numbers, times
from app.text.i18n import tr, trn
from app.widgets.tile import NOTHING
from core.api.snapshot import Snapshot, Today


class Reading(NamedTuple):
    """A live value. `ceiling` is worded to follow it: "of 80 %", or only the unit where nothing limits it."""

    name: str
    value: str
    ceiling: str
    share: float | None
    """Of the ceiling; None where there is none."""


class Figure(NamedTuple):
    """The words of a tile."""

    value: str
    unit: str
    caption: str
    is_old: bool = False
    """Known from before: nothing measures it now."""


def today(given: Today) -> Figure:
    parts = [trn("sample", "samples", given.samples)]
    if given.seconds:
        parts.append(numbers.duration(given.seconds))
    if given.epochs:
        parts.append(amounts.epochs(given.epochs))
    return Figure(numbers.count(given.samples), "", " · ".join(parts))


def speed(snapshot: Snapshot) -> Figure:
    """Nothing while this computer does not contribute, or nothing is known of it."""
    if snapshot.state != "contributing" or snapshot.silence:
        return Figure(NOTHING, "", tr("samples per second"))
    own = snapshot.progress.samples_per_second
    together = progress.speed(max(snapshot.progress.swarm_samples_per_second, own))
    return Figure(numbers.figure(own), tr("/s"), tr("samples; all peers together {speed}", speed=together))


def peers(snapshot: Snapshot) -> Figure:
    """Those of the last session while this computer rests."""
    count = snapshot.progress.peers
    if not count:
        return Figure(NOTHING, "", tr("train this model together"))
    if snapshot.session is None or snapshot.state == "holding" or snapshot.silence:
        return Figure(numbers.count(count), "", tr("when you were last with them"), is_old=True)
    caption = tr("you are one of them") if count > 1 else tr("only you so far")
    if snapshot.progress.loss is not None:
        caption += " · " + progress.loss(snapshot.progress.loss)
    return Figure(numbers.count(count), "", caption)


def network(snapshot: Snapshot) -> tuple[Reading, ...]:
    """Both directions, and the month where its data are limited."""
    is_known = snapshot.session is not None and not snapshot.silence
    traffic, limits = snapshot.traffic, snapshot.settings.limits
    rates = (
        _rate(tr("Up"), traffic.upload_rate if is_known else None, limits.upload_limit),
        _rate(tr("Down"), traffic.download_rate if is_known else None, limits.download_limit),
    )
    if not (month := snapshot.data_month):
        return rates
    return (*rates, Reading(tr("This month"), *numbers.size_under(month.used, month.cap), month.used / month.cap))


def moved(snapshot: Snapshot) -> str:
    """Bytes of this session, and how others reach it."""
    if snapshot.session is None:
        return tr("no traffic now")
    if snapshot.data_month:
        # A month's total says more than the session's.
        return status.reachability(snapshot)
    up, down = numbers.size(snapshot.traffic.uploaded), numbers.size(snapshot.traffic.downloaded)
    told = tr("this session {up} up, {down} down", up=up, down=down)
    return "\n".join(filter(None, [told, status.reachability(snapshot)]))


def computer(snapshot: Snapshot) -> tuple[Reading, ...]:
    """Processor, memory and graphics card, beside what the session may use of them; empty without one."""
    use, limits = snapshot.processor, snapshot.settings.limits
    if use is None or snapshot.silence:
        return gpu(snapshot)
    memory = Reading(tr("Memory"), NOTHING, "", None)
    if use.memory and limits.memory_limit:
        memory = Reading(
            tr("Memory"), *numbers.size_under(use.memory, limits.memory_limit), use.memory / limits.memory_limit
        )
    elif use.memory:
        memory = Reading(tr("Memory"), *numbers.size_parts(use.memory), None)
    return (_amount(tr("Processor"), use.share, limits.processor_share, "%"), memory, *gpu(snapshot))


def measured(snapshot: Snapshot) -> str:
    """Since when the memory is known; the rest is of now."""
    use = snapshot.processor
    if use is None or snapshot.silence or not use.memory:
        return ""
    return tr("memory at {time}", time=times.second(use.memory_at))


def gpu(snapshot: Snapshot) -> tuple[Reading, ...]:
    """The graphics card; empty while none computes."""
    card, limits = snapshot.gpu, snapshot.settings.limits
    if card is None:
        return ()
    return (
        _amount(tr("Card"), card.utilization, limits.gpu_share, "%"),
        _amount(tr("Temperature"), card.temperature, limits.gpu_temperature, "°C"),
        _amount(tr("Power"), card.power, limits.gpu_power, "W"),
    )


def _amount(name: str, now: int | None, ceiling: int, unit: str) -> Reading:
    value = NOTHING if now is None else str(now)
    if not ceiling:
        return Reading(name, value, unit, None)
    return Reading(name, value, tr("of {amount}", amount=numbers.with_unit(str(ceiling), unit)), (now or 0) / ceiling)


def _rate(name: str, now: float | None, ceiling: int) -> Reading:
    value, unit = numbers.rate_of(now or 0.0, ceiling)
    if now is None:
        return Reading(name, NOTHING, unit if ceiling else "", 0.0 if ceiling else None)
    return Reading(name, value, unit, now / ceiling if ceiling else None)

"""When and how much the network may be used: a month's data, the hours of a day, and what a project needs. Pure.

Days and hours are the volunteer's, in the zone that is passed in; moments are UTC seconds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from core.api.phrases import phrase
from core.api.reasons import Kind

_MINUTES_A_DAY = 24 * 60


@dataclass(frozen=True)
class NetworkUse:
    """How the line stands at a moment."""

    used: int = 0
    """Bytes up and down since the data month began."""
    month_ends: float | None = None
    open: bool = True
    """The network may be used at this hour."""
    next_edge: float | None = None
    """When that changes; None: never."""


def look(effective: Mapping[str, int], used: int, now: float, zone: tzinfo) -> NetworkUse:
    """`used`: bytes since `month_begin`."""
    opens, closes = effective["network_from"], effective["network_until"]
    if opens == closes:
        return NetworkUse(used, month_end(effective["data_cap_day"], now, zone))
    here = datetime.fromtimestamp(now, zone)
    minute = here.hour * 60 + here.minute
    is_open = (minute - opens) % _MINUTES_A_DAY < (closes - opens) % _MINUTES_A_DAY
    edge = _next_time(closes if is_open else opens, now, zone)
    return NetworkUse(used, month_end(effective["data_cap_day"], now, zone), is_open, edge)


def objections(
    use: NetworkUse, effective: Mapping[str, int], min_bandwidth: int
) -> Iterator[tuple[Kind, str, float | None]]:
    """What stands against a session, the detail of its sentence and its end. `min_bandwidth`: see `Membership`."""
    if effective["data_cap"] and use.used >= effective["data_cap"]:
        yield Kind.DATA_CAP, _size(effective["data_cap"]), use.month_ends
    if not use.open:
        yield Kind.NETWORK_HOURS, "", use.next_edge
    if too_slow := _too_slow(effective["upload_limit"], effective["download_limit"], min_bandwidth):
        yield Kind.NETWORK_TOO_SLOW, too_slow, None


def month_begin(day: int, now: float, zone: tzinfo) -> float:
    """The latest local midnight that began the `day`th (1 to 28) of a month."""
    here = datetime.fromtimestamp(now, zone)
    first = here.replace(day=day, hour=0, minute=0, second=0, microsecond=0, fold=0)
    if first.timestamp() > now:
        first = (first.replace(day=1) - timedelta(days=1)).replace(day=day)
    return first.timestamp()


def month_end(day: int, now: float, zone: tzinfo) -> float:
    """The next such midnight."""
    begin = datetime.fromtimestamp(month_begin(day, now, zone), zone)
    return (begin.replace(day=1, hour=0, fold=0) + timedelta(days=32)).replace(day=day).timestamp()


def _too_slow(upload: int, download: int, wanted: int) -> str:
    """What is needed and what the ceilings are where they are lower; empty if they are not."""
    up = phrase(f"{_rate(wanted)} up, and your ceiling is {_rate(upload)}") if 0 < upload < wanted else ""
    down = phrase(f"{_rate(wanted)} down, and your ceiling is {_rate(download)}") if 0 < download < wanted else ""
    return phrase(f"{up}; {down}") if up and down else up or down


def _next_time(minute: int, now: float, zone: tzinfo) -> float:
    """The next moment at which local clocks show that minute of the day, or jump over it."""
    here = datetime.fromtimestamp(now, zone)
    for days in range(3):
        there = (here + timedelta(days=days)).replace(
            hour=minute // 60, minute=minute % 60, second=0, microsecond=0, fold=0
        )
        if there.timestamp() > now:
            return there.timestamp()
    raise AssertionError("every minute comes within three days")


def _rate(rate: int) -> str:
    return f"{rate * 8 / 1e6:.3g} Mbit/s"


def _size(size: int) -> str:
    return f"{size / 1e9:.3g} GB"

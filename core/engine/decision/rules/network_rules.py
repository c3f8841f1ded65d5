"""Reasons from the data cap, the allowed hours and the bandwidth that a project needs. Pure.

Days and hours are the volunteer's, in the zone that is passed in; moments are UTC seconds.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo

from core.api.message import Message
from core.api.preferences.preferences import Values
from core.api.reasons import Reason, Severity
from core.engine.decision.facts import Facts, NetworkUse

_MINUTES_A_DAY = 24 * 60


def reasons(facts: Facts) -> Iterator[Reason]:
    project, use, effective = facts.membership, facts.conditions.network, facts.effective
    if not facts.intent.wanted or (project is not None and project.has_own_backbone):
        return
    if effective["data_cap"] and use.used >= effective["data_cap"]:
        yield Reason("data_cap", hold=False, params={"cap": effective["data_cap"]}, until=use.month_ends)
    if not use.open:
        yield Reason("network_hours", hold=False, until=use.next_edge)
    if project is not None:
        yield from _too_slow(effective, project.min_bandwidth)


def network_use(effective: Values, used: int, now: float, zone: tzinfo) -> NetworkUse:
    """`used`: bytes since `month_begin`."""
    opens, closes = effective["network_from"], effective["network_until"]
    if opens == closes:
        return NetworkUse(used, month_end(effective["data_cap_day"], now, zone))
    here = datetime.fromtimestamp(now, zone)
    minute = here.hour * 60 + here.minute
    is_open = (minute - opens) % _MINUTES_A_DAY < (closes - opens) % _MINUTES_A_DAY
    edge = _next_time(closes if is_open else opens, now, zone)
    return NetworkUse(used, month_end(effective["data_cap_day"], now, zone), is_open, edge)


def _too_slow(effective: Values, needed: int) -> Iterator[Reason]:
    upload, download = effective["upload_limit"], effective["download_limit"]
    causes = []
    if 0 < upload < needed:
        causes.append(Message("upload_too_slow", {"needed": needed, "allowed": upload}))
    if 0 < download < needed:
        causes.append(Message("download_too_slow", {"needed": needed, "allowed": download}))
    for cause in causes:
        yield Reason("network_too_slow", hold=False, params={"cause": cause}, severity=Severity.PROBLEM)


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


def _next_time(minute: int, now: float, zone: tzinfo) -> float:
    """The next moment at which local clocks show, or skip, that minute of the day."""
    here = datetime.fromtimestamp(now, zone)
    for days in range(3):
        there = (here + timedelta(days=days)).replace(
            hour=minute // 60, minute=minute % 60, second=0, microsecond=0, fold=0
        )
        if there.timestamp() > now:
            return there.timestamp()
    raise AssertionError("every minute comes within three days")

"""Moments (UTC seconds), days and months as people read them: in local time, as the region writes them."""

from datetime import date, datetime

from app.text.formats import region
from app.text.i18n import tr
from core.api.record.record import Bucket

_DAYS_WITHOUT_YEAR = 300
"""So far away a day and its month can be of one year only."""


def clock(moment: float, now: float) -> str:
    """A moment as local time of day: 14:30, tomorrow 08:00, Mon 08:00, 24 Dec 08:00, 24 December 2031 08:00."""
    then, today = _local(moment), _local(now)
    time = time_of_day(then.hour, then.minute)
    days = (then.date() - today.date()).days
    if days == 0:
        return time
    if days == 1:
        return tr("tomorrow {time}", time=time)
    if 1 < days < 7:
        return f"{region.current().short_days[then.weekday()]} {time}"
    return f"{_day_and_month(then) if abs(days) < _DAYS_WITHOUT_YEAR else date_text(then)} {time}"


def moment(then: float, now: float) -> str:
    """A moment of the past: 14 Mar, 21:07; 14 Mar 2025, 21:07 in another year."""
    there = _local(then)
    date = _day_and_month(there) if there.year == _local(now).year else _short_date(there)
    return tr("{date}, {time}", date=date, time=time_of_day(there.hour, there.minute))


def time_of_day(hour: int, minute: int) -> str:
    """23:00, or 11:00 PM."""
    if region.current().has_24_hours:
        return f"{hour % 24:02}:{minute:02}"
    return _in_half_days(hour, f":{minute:02}")


def second(moment: float) -> str:
    """A moment of the last minutes: 23:00:07, or 11:00:07 PM."""
    local = _local(moment)
    seconds = f":{local.minute:02}:{local.second:02}"
    return f"{local.hour:02}{seconds}" if region.current().has_24_hours else _in_half_days(local.hour, seconds)


def hour(number: int) -> str:
    """A full hour on an axis: 23, or 11 PM."""
    return f"{number:02}" if region.current().has_24_hours else _in_half_days(number, "")


def day(moment: float) -> str:
    """14 March 2026."""
    return date_text(_local(moment))


def date_text(day: date) -> str:
    """14 March 2026."""
    month = region.current().months[day.month - 1]
    return tr("{day} {month} {year}", day=day.day, month=month, year=day.year)


def short_day(moment: float) -> str:
    """14 Mar."""
    return _day_and_month(_local(moment))


def month(number: int) -> str:
    """Jan to Dec."""
    return region.current().short_months[number - 1].removesuffix(".")


def weekday(day: int) -> str:
    """Monday = 0."""
    return region.current().days[day]


def short_weekday(day: int) -> str:
    """Mon = 0, for the head of a table."""
    return region.current().short_days[day].removesuffix(".")


def span(since: float, until: float) -> str:
    """A range of days: 3 Mar – 12 Mar 2026, or one day in full."""
    first, last = _local(since), _local(until - 1)
    if first.date() == last.date():
        return day(since)
    if first.year != last.year:
        return f"{_short_date(first)} – {_short_date(last)}"
    return tr("{first} – {last} {year}", first=_day_and_month(first), last=_day_and_month(last), year=last.year)


def bucket(kind: Bucket, start: float) -> str:
    """The time that a bar of a chart covers."""
    local = _local(start)
    match kind:
        case "hour":
            return tr("{date}, {time}", date=day(start), time=time_of_day(local.hour, 0))
        case "day":
            return day(start)
        case "week":
            return tr("Week of {day}", day=day(start))
        case "month":
            return tr("{month} {year}", month=region.current().months[local.month - 1], year=local.year)


def _day_and_month(local: datetime) -> str:
    return tr("{day} {month}", day=local.day, month=region.current().short_months[local.month - 1])


def _short_date(local: datetime) -> str:
    month = region.current().short_months[local.month - 1]
    return tr("{day} {month} {year}", day=local.day, month=month, year=local.year)


def _in_half_days(hour: int, minutes: str) -> str:
    here = region.current()
    return f"{hour % 12 or 12}{minutes}{here.space}{here.halves_of_day[hour % 24 >= 12]}"


def _local(moment: float) -> datetime:
    return datetime.fromtimestamp(moment).astimezone()

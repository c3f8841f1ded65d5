"""Numbers as people read them. Human units exist here and nowhere else: bytes, seconds and samples come in.

Figures are grouped by a narrow space and units follow after a space that does not break (ISO 80000-1). The decimal
mark, times and names of days are those of Qt's default locale, which `app.desktop.language` sets.
"""

from datetime import datetime

from PySide6.QtCore import QDate, QLocale, QTime

from app.text.i18n import tr

SPACE = "\N{NO-BREAK SPACE}"
GROUP = "\N{NARROW NO-BREAK SPACE}"

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_BIT_RATES = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s")


def count(number: float) -> str:
    """A whole number, grouped: 48 210; from ten million on with a unit: 12.3 M."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if number >= 10e6 and round(number / size, 1) >= 1:
            return f"{decimal(number / size)}{SPACE}{unit}"
    return f"{round(number):,}".replace(",", GROUP)


def figure(number: float) -> str:
    """A measured quantity with about three digits: 0.42, 7.3, 152, 1 240."""
    if number >= 99.5:
        return count(number)
    return decimal(number, 2) if 0 < number < 1 else _marked(f"{number:.1f}".removesuffix(".0"))


def decimal(number: float, places: int = 1) -> str:
    """A number with so many places behind the decimal mark."""
    return _marked(f"{number:.{places}f}")


def size(number: float) -> str:
    """Bytes in decimal units: 3.4 MB."""
    value, unit = _scaled(number, _BYTE_UNITS)
    return f"{value}{SPACE}{unit}"


def size_of(done: float, total: float) -> str:
    """A share of a download in the unit of the whole: 1.2 of 3.4 MB. The total is left out while unknown (0)."""
    if total <= 0:
        return size(done)
    whole, unit = _scaled(total, _BYTE_UNITS)
    power = _BYTE_UNITS.index(unit)
    part = decimal(min(done, total) / 1000**power) if power else f"{min(done, total):.0f}"
    return tr("{done} of {total}", done=part, total=f"{whole}{SPACE}{unit}")


def rate(bytes_per_second: float) -> str:
    """A transfer rate as providers sell it: 2.1 Mbit/s."""
    value, unit = _scaled(bytes_per_second * 8, _BIT_RATES)
    return f"{value}{SPACE}{unit}"


def rate_of(now: float, ceiling: int) -> tuple[str, str]:
    """A rate in the unit of its ceiling, and the ceiling as it follows: 2.1, of 8 Mbit/s. A ceiling of 0 is none."""
    return _under(now * 8, ceiling * 8, _BIT_RATES) if ceiling else _scaled(now * 8, _BIT_RATES)


def size_under(now: float, ceiling: int) -> tuple[str, str]:
    """Bytes in the unit of their ceiling, and the ceiling as it follows: 41, of 100 GB."""
    return _under(now, ceiling, _BYTE_UNITS)


def percent(share: float) -> str:
    """A share of one: 9 %. Never 100 before it is all of it, never 0 when there is something."""
    if 0 < share < 0.01:
        return f"<{SPACE}1{SPACE}%"
    whole = 99 if 0.99 < share < 1 else round(share * 100)
    return f"{whole}{SPACE}%"


def duration(seconds: float) -> str:
    """How long something takes or took, in two units at most: 20 s, 42 min, 3 h 12 min, 2 d 4 h."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole}{SPACE}s"
    minutes = round(whole / 60)
    if minutes < 60:
        return f"{minutes}{SPACE}min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return _two(hours, "h", minutes, "min")
    days, hours = divmod(hours, 24)
    return _two(days, "d", hours, "h")


def age(seconds: float) -> str:
    """How long ago something was, in one unit, since nobody counts further back: 20 s, 42 min, 3 h, 2 d."""
    return duration(seconds).partition(" ")[0]


def clock(moment: float, now: float) -> str:
    """A moment (UTC seconds) as local time of day: 14:30, tomorrow 08:00, Mon 08:00, 24 Dec 08:00."""
    then, today = datetime.fromtimestamp(moment).astimezone(), datetime.fromtimestamp(now).astimezone()
    time = time_of_day(then.hour, then.minute)
    days = (then.date() - today.date()).days
    if days == 0:
        return time
    if days == 1:
        return tr("tomorrow {time}", time=time)
    day = QDate(then.year, then.month, then.day)
    return QLocale().toString(day, "ddd" if 1 < days < 7 else tr("d MMM")) + f" {time}"


def time_of_day(hour: int, minute: int) -> str:
    """As the system's region writes it: 23:00, or 11:00 PM."""
    if _counts_to_24():
        return f"{hour % 24:02}:{minute:02}"
    return QLocale().toString(QTime(hour % 24, minute), f"h:mm{SPACE}AP")


def hour(number: int) -> str:
    """A full hour on an axis: 23, or 11 PM."""
    return f"{number:02}" if _counts_to_24() else QLocale().toString(QTime(number % 24, 0), f"h{SPACE}AP")


def _counts_to_24() -> bool:
    return "a" not in QLocale().timeFormat(QLocale.FormatType.ShortFormat).lower()


def _marked(number: str) -> str:
    return number.replace(".", QLocale().decimalPoint())


def _scaled(number: float, units: tuple[str, ...]) -> tuple[str, str]:
    """The number in the largest unit in which it is at least one."""
    power = 0
    while round(number / 1000**power, 1) >= 1000 and power < len(units) - 1:
        power += 1
    value = number / 1000**power
    return (decimal(value) if power and value < 99.95 else f"{value:.0f}"), units[power]


def _under(number: float, ceiling: float, units: tuple[str, ...]) -> tuple[str, str]:
    whole, unit = _scaled(ceiling, units)
    part = number / 1000 ** units.index(unit)
    amount = f"{whole.removesuffix(_marked('.0'))}{SPACE}{unit}"
    return decimal(part) if part < 99.95 else f"{part:.0f}", tr("of {amount}", amount=amount)


def _two(large: int, unit: str, small: int, small_unit: str) -> str:
    first = f"{large}{SPACE}{unit}"
    return f"{first} {small}{SPACE}{small_unit}" if small else first

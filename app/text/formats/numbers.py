"""Numbers and amounts as people read them, as the region writes them. Bytes, seconds and samples come in."""

from app.text.formats import region
from app.text.i18n import tr, translate
from core.api.record.record import JOULES_IN_KWH

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_BIT_RATES = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s")
_WORK_UNITS = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP")


def count(number: float) -> str:
    """A whole number, grouped: 48 210; from ten million on with a unit: 12.3 M."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if number >= 10e6 and round(number / size, 1) >= 1:
            return with_unit(decimal(number / size), unit)
    return f"{round(number):,}".replace(",", region.current().group)


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
    return with_unit(*_scaled(number, _BYTE_UNITS))


def size_parts(number: float) -> tuple[str, str]:
    amount, unit = _scaled(number, _BYTE_UNITS)
    return amount, translate(unit)


def size_of(done: float, total: float) -> str:
    """A share of a download in the unit of the whole: 1.2 of 3.4 MB. The total is left out while unknown (0)."""
    if total <= 0:
        return size(done)
    whole, unit = _scaled(total, _BYTE_UNITS)
    power = _BYTE_UNITS.index(unit)
    amount = min(done, total) / 1000**power
    part = decimal(amount) if power and amount < 99.95 else f"{amount:.0f}"
    return tr("{done} of {total}", done=part, total=with_unit(whole, unit))


def rate(bytes_per_second: float) -> str:
    """A transfer rate as providers sell it: 2.1 Mbit/s."""
    return with_unit(*_scaled(bytes_per_second * 8, _BIT_RATES))


def rate_of(now: float, ceiling: int) -> tuple[str, str]:
    """A rate in the unit of its ceiling, and the ceiling as it follows: 2.1, of 8 Mbit/s. A ceiling of 0 is none."""
    return _under(now * 8, ceiling * 8, _BIT_RATES) if ceiling else _scaled(now * 8, _BIT_RATES)


def size_under(now: float, ceiling: int) -> tuple[str, str]:
    """Bytes in the unit of their ceiling, and the ceiling as it follows: 41, of 100 GB."""
    return _under(now, ceiling, _BYTE_UNITS)


def work(flops: float) -> str:
    """Floating-point operations: 3.2 PFLOP."""
    return with_unit(*work_parts(flops))


def work_parts(flops: float) -> tuple[str, str]:
    power = 0
    while flops >= 999.5 and power < len(_WORK_UNITS) - 1:
        flops, power = flops / 1000, power + 1
    return figure(flops), _WORK_UNITS[power]


def energy(joules: float) -> str:
    """1.2 kWh."""
    return with_unit(*energy_parts(joules))


def energy_parts(joules: float) -> tuple[str, str]:
    kilowatt_hours = joules / JOULES_IN_KWH
    return (figure(kilowatt_hours), "kWh") if kilowatt_hours >= 1 else (figure(kilowatt_hours * 1000), "Wh")


def percent(share: float) -> str:
    """A share of one: 9 %. Never 100 before it is all of it, never 0 when there is something."""
    if 0 < share < 0.01:
        return with_unit(with_unit("<", "1"), "%")
    whole = 99 if 0.99 < share < 1 else round(share * 100)
    return with_unit(str(whole), "%")


def duration(seconds: float) -> str:
    """How long something takes or took, in two units at most: 20 s, 42 min, 3 h 12 min, 2 d 4 h."""
    return " ".join(with_unit(number, unit) for number, unit in _duration_parts(seconds))


def age(seconds: float) -> str:
    """How long ago something was, in one unit: 20 s, 42 min, 3 h, 2 d."""
    return with_unit(*_duration_parts(seconds)[0])


def with_unit(number: str, unit: str) -> str:
    """A number before its unit, by that unit's name in the language; just the number if there is no unit."""
    if not unit:
        return number
    space = region.current().before_percent if unit == "%" else region.current().space
    return f"{number}{space}{translate(unit)}"


def money(amount: float, currency: str) -> str:
    """12.40 EUR, or EUR 12.40."""
    parts = (currency, decimal(amount, 2)) if region.current().currency_first else (decimal(amount, 2), currency)
    return region.current().space.join(part for part in parts if part)


def _duration_parts(seconds: float) -> list[tuple[str, str]]:
    whole = max(0, round(seconds))
    minutes = round(whole / 60)
    if whole < 60:
        return [(str(whole), "s")]
    if minutes < 60:
        return [(str(minutes), "min")]
    hours, minutes = divmod(minutes, 60)
    days, rest = divmod(hours, 24)
    first, second = ((days, "d"), (rest, "h")) if days else ((hours, "h"), (minutes, "min"))
    return [(str(number), unit) for number, unit in (first, second) if number]


def _marked(number: str) -> str:
    return number.replace(".", region.current().decimal_mark)


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
    amount = with_unit(whole.removesuffix(_marked(".0")), unit)
    return decimal(part) if part < 99.95 else f"{part:.0f}", tr("of {amount}", amount=amount)

"""The values of limits as people read, type and drag them. Pure: the wire's whole numbers in the wire's units come in.

A slider moves over round values only (`stops`); the entry beside it takes any.
"""

import bisect
import math
import os
import re
from collections.abc import Callable
from typing import NamedTuple

from app.text import numbers as numbers_text
from app.text import times, units
from app.text.i18n import tr
from core.api.errors import UsageError
from core.api.preferences import currencies
from core.api.preferences.limits import LimitInfo

_MOST_STEPS = 100
_WIDE = 100
"""From this ratio of highest to lowest on, a step is a share of the value instead of an amount."""
_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
_ROUND_MINUTES = (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720)
_MIDNIGHT = 24 * 60


class _Unit(NamedTuple):
    write: Callable[[int], str]
    bare: str = ""
    """The unit of a number that is typed without one."""
    size: float = 1.0
    """The step that reads as one, in wire units."""
    slider: tuple[int, int] | None = None
    """Where a slider begins and ends at most; the entry goes on to the limit's own range."""


def write(value: int, limit: LimitInfo) -> str:
    """A value as the rows show it; what 0 stands for is said in words."""
    return zero_word(limit.zero) if value == 0 and limit.zero else _UNITS[limit.unit].write(value)


def write_live(value: float, limit: LimitInfo) -> str:
    """A measured value: here 0 is a number, and rates are rounded."""
    return numbers_text.rate(value) if limit.unit == "bytes/s" else _UNITS[limit.unit].write(round(value))


def zero_word(word: str) -> str:
    """A word for 0 in the volunteer's language."""
    words = {
        "automatic": tr("automatic"),
        "unlimited": tr("no limit"),
        "none": tr("none"),
        "do not wait": tr("do not wait"),
        "not set": tr("not set"),
    }
    return words.get(word, word)


def parse(text: str, limit: LimitInfo) -> int:
    """The value that somebody typed; a number without a unit means the usual one.

    Raises:
        UsageError: not such a quantity, or outside the range, which the sentence names.
    """
    typed = text.replace(numbers_text.SPACE, " ").replace(numbers_text.GROUP, "").strip()
    if limit.zero and typed.lower() in {limit.zero, zero_word(limit.zero).lower()}:
        return 0
    value = _time_of_day(typed) if limit.unit == "time" else _amount(typed, limit)
    if value is None:
        example = write(_example(limit), limit)
        raise UsageError("quantity_unclear", text=typed, example=example)
    if value != limit.lowest and not _smallest(limit) <= value <= limit.highest:
        raise UsageError("quantity_out_of_range", text=typed, allowed=allowed(limit))
    return value


def allowed(limit: LimitInfo) -> str:
    """The range, in a sentence."""
    unit = _UNITS[limit.unit]
    lowest, highest = unit.write(_smallest(limit)), unit.write(limit.highest)
    if _smallest(limit) == limit.lowest:
        return tr("Allowed: {lowest} to {highest}.", lowest=lowest, highest=highest)
    zero = zero_word(limit.zero)
    return tr("Allowed: {lowest} to {highest}, or “{zero}”.", lowest=lowest, highest=highest, zero=zero)


def stops(limit: LimitInfo) -> tuple[int, ...]:
    """The round values that a slider offers, from strict to generous."""
    unit = _UNITS[limit.unit]
    begin, end = unit.slider or (limit.lowest, limit.highest)
    lowest = min(max(_smallest(limit), begin), limit.highest)
    highest = max(lowest, min(limit.highest, end))
    between = _between(lowest, highest, limit.unit)
    values = (lowest, *(value for value in between if lowest < value < highest), highest)
    if _smallest(limit) == limit.lowest:
        return values
    return (*values, 0) if limit.zero == "unlimited" else (0, *values)


def stop_of(value: float, offered: tuple[int, ...], limit: LimitInfo) -> float:
    """Where a value stands among the stops, also between two of them."""
    if value == 0 and limit.zero and 0 in offered:
        return float(offered.index(0))
    numbers = [number for number in offered if number or not limit.zero]
    first = offered.index(numbers[0])
    right = bisect.bisect_left(numbers, value)
    if right in {0, len(numbers)}:
        return float(first + min(right, len(numbers) - 1))
    left = numbers[right - 1]
    return first + right - 1 + (value - left) / (numbers[right] - left)


def _amount(typed: str, limit: LimitInfo) -> int | None:
    amount = typed.replace(",", ".")
    if re.fullmatch(r"[0-9.]+", amount):
        amount = f"{amount} {_UNITS[limit.unit].bare}"
    try:
        return units.parse(amount, limit.unit)
    except UsageError:
        return None


def _time_of_day(typed: str) -> int | None:
    """Minutes since midnight from 22:00, 22, 10 pm."""
    if typed.lower() == _time(_MIDNIGHT).lower():
        return _MIDNIGHT
    found = re.fullmatch(r"([0-9]{1,2})(?:[:.]([0-5][0-9]))?\s*(am|pm)?", typed, re.IGNORECASE)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "pm" else 0)
    return hour * 60 + minute


def _smallest(limit: LimitInfo) -> int:
    """The lowest ordinary value: where 0 has a word, what comes after it."""
    return max(1, limit.least) if limit.zero and limit.lowest == 0 else max(limit.least, limit.lowest)


def _example(limit: LimitInfo) -> int:
    offered = [number for number in stops(limit) if number]
    return limit.default or offered[len(offered) // 2]


def _between(lowest: int, highest: int, unit: str) -> list[int]:
    if unit in {"minutes", "seconds"}:
        return [minutes * (60 if unit == "seconds" else 1) for minutes in _ROUND_MINUTES]
    size = _UNITS[unit].size
    wide = highest / max(lowest, size) >= _WIDE and unit in {"bytes", "bytes/s", "threads"}
    return _by_share(lowest, highest, size) if wide else _by_amount(lowest, highest, size)


def _by_amount(lowest: int, highest: int, size: float) -> list[int]:
    """Equal steps of 1, 2 or 5, times a power of ten."""
    steps = (factor * 10**power * size for power in range(20) for factor in (1, 2, 5))
    step = next(step for step in steps if (highest - lowest) / step <= _MOST_STEPS)
    return [round(number * step) for number in range(math.floor(lowest / step) + 1, math.ceil(highest / step))]


def _by_share(lowest: int, highest: int, size: float) -> list[int]:
    """Round numbers that grow: 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15 …"""
    powers = range(math.floor(math.log10(lowest / size)), math.ceil(math.log10(highest / size)) + 1)
    return sorted({round(factor * 10.0**power * size) for power in powers for factor in _ROUND})


def _bit_rate(value: int) -> str:
    bits = value * 8
    for size, name in ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if bits >= size:
            return f"{round(bits / size, 2):g}{numbers_text.SPACE}{name}"
    return f"{bits}{numbers_text.SPACE}bit/s"


def _bytes(value: int) -> str:
    """In the binary unit if only that reads even: 20 GB, but 10 GiB."""
    for size, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB")):
        if value >= size and value % size == 0 and value % 1_000_000:
            return f"{value // size}{numbers_text.SPACE}{name}"
    return numbers_text.size(value).replace(".0", "")


def _time(minutes: int) -> str:
    return tr("midnight") if minutes == _MIDNIGHT else times.time_of_day(*divmod(minutes, 60))


def _of(name: str) -> Callable[[int], str]:
    return lambda value: f"{value}{numbers_text.SPACE}{name}"


_UNITS: dict[str, _Unit] = {
    "threads": _Unit(str, slider=(1, max(2, os.cpu_count() or 1))),
    "percent": _Unit(_of("%")),
    "bytes": _Unit(_bytes, "GB", slider=(10**8, 10**12)),
    "bytes/s": _Unit(_bit_rate, "Mbit/s", size=1 / 8, slider=(12_500, 125_000_000)),
    "celsius": _Unit(_of("°C")),
    "watts": _Unit(_of("W"), slider=(20, 600)),
    "seconds": _Unit(numbers_text.duration, "s"),
    "minutes": _Unit(lambda value: numbers_text.duration(value * 60), "min"),
    "day": _Unit(str),
    "time": _Unit(_time, size=30),
    "switch": _Unit(lambda value: tr("on") if value else tr("off")),
    "port": _Unit(str),
    "price": _Unit(lambda value: units.write(value, "price"), size=10, slider=(10, 600)),
    "g/kWh": _Unit(_of("g/kWh"), slider=(10, 1000)),
    "currency": _Unit(currencies.letters),
}
"""A test has every unit of the contract read back what it writes."""

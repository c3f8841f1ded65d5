"""Quantities as people read and write them, for window and command line. Pure: the contract's whole numbers come in.

What is written reads back exactly. `kB`, `MB`, `GB` are powers of 1000, `KiB`, `MiB`, `GiB` powers of 1024
(IEC 80000-13).
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from app.text.formats import numbers, region, times, units
from app.text.i18n import tr
from app.text.typed import periods
from core.api.errors import UsageError
from core.api.preferences.value_types import Number, Unit

_NUMBER = re.compile(r"([0-9]{1,18}(?:[.,][0-9]{1,18})?)\s*(.*)\Z", re.DOTALL)
_PER_SECOND = re.compile(r"(?:/s|/sec| per second|ps)\Z", re.IGNORECASE)

_BINARY = {"PiB": 1 << 50, "TiB": 1 << 40, "GiB": 1 << 30, "MiB": 1 << 20}
_DECIMAL = {"PB": 10**15, "TB": 10**12, "GB": 10**9, "MB": 10**6, "kB": 1000, "B": 1}
_BIT_RATES = {"Tbit/s": 10**12, "Gbit/s": 10**9, "Mbit/s": 10**6, "kbit/s": 1000, "bit/s": 1}
_TIMES = {"d": 86_400, "h": 3600, "min": 60, "s": 1}

_SIZES = {"": 1.0, "b": 1.0, "byte": 1.0, "bytes": 1.0}
_BITS = {}
for _power, _letter in enumerate(("", *"kmgtp")):
    _BITS[f"{_letter}bit"] = 1000**_power / 8
    if _letter:
        _SIZES |= {_letter: 1000.0**_power, f"{_letter}b": 1000.0**_power, f"{_letter}ib": 1024.0**_power}


def write(value: int, number: Number) -> str:
    """A value; what 0 stands for is said in words."""
    return zero_word(number.zero) if value == 0 and number.zero else _UNITS[number.unit].write(value)


def write_live(value: float, number: Number) -> str:
    """A measured value, rounded; here 0 is a number."""
    match number.unit:
        case "bytes/s":
            return numbers.rate(value)
        case "bytes":
            return numbers.size(value)
        case _:
            return _UNITS[number.unit].write(round(value))


def zero_word(word: str) -> str:
    """A word for 0 in the language in use."""
    words = {
        "automatic": tr("automatic"),
        "unlimited": tr("unlimited"),
        "none": tr("none"),
        "do not wait": tr("do not wait"),
        "not set": tr("not set"),
    }
    return words.get(word, word)


def allowed(number: Number) -> str:
    """The range: `5 % to 100 %`, `1 to 1024, or “automatic”`."""
    unit = _UNITS[number.unit]
    lowest, highest = unit.write(number.smallest), unit.write(number.highest)
    if not number.zero:
        return tr("{lowest} to {highest}", lowest=lowest, highest=highest)
    zero = zero_word(number.zero)
    return tr("{lowest} to {highest}, or “{zero}”", lowest=lowest, highest=highest, zero=zero)


def parse(text: str, number: Number, *, usual_unit: bool = False) -> int:
    """The value of a typed text. With `usual_unit`, a number alone is in GB or Mbit/s; otherwise in bytes.

    Raises:
        UsageError: not such a quantity, or out of range.
    """
    typed = re.sub(r"\s", " ", text).strip()
    if number.zero and typed.lower() in {number.zero, zero_word(number.zero).lower()}:
        return 0
    unit = _UNITS[number.unit]
    with_unit = f"{typed} {unit.usual}" if usual_unit and re.fullmatch(r"[0-9.,]+", typed) else typed
    amount = unit.read(with_unit.strip())
    if amount is None or (amount < 1 and amount != 0):
        raise UsageError("value_unclear", text=typed, example=unit.write(unit.example))
    value = round(amount)
    if not number.allows(value):
        raise UsageError("value_out_of_range", text=typed, allowed=allowed(number))
    return value


def _exact(value: int, sizes: Mapping[str, int], factor: int = 1) -> str:
    """In the largest unit that needs no more than three decimal places."""
    amount = value * factor
    fitting = (unit for unit in sizes.items() if unit[1] == 1 or (amount >= unit[1] and not amount * 1000 % unit[1]))
    name, size = next(fitting)
    return numbers.with_unit(_fraction(amount, size), name)


def _fraction(amount: int, size: int) -> str:
    """With three decimal places at most."""
    whole, rest = divmod(amount, size)
    return numbers.decimal(amount / size, 3).rstrip("0") if rest else str(whole)


def _size(value: int) -> str:
    """In the binary unit if only that reads even: 20 GB, but 10 GiB."""
    for name, size in _BINARY.items():
        if value >= size and value % size == 0 and value % 10**6:
            return numbers.with_unit(str(value // size), name)
    return _exact(value, _DECIMAL)


def _duration(value: int) -> str:
    parts: list[str] = []
    for name, size in _TIMES.items():
        count, value = divmod(value, size)
        if count or (name == "s" and not parts):
            parts.append(numbers.with_unit(str(count), name))
    return " ".join(parts)


def _read(text: str, factors: Mapping[str, float]) -> float | None:
    found = _NUMBER.match(text)
    factor = factors.get(units.in_english(found[2].strip()).lower()) if found else None
    if found is None or factor is None:
        return None
    # 1,500 may be one and a half or fifteen hundred, and so may 1.500 where the decimal mark is a comma.
    grouped = r"[1-9][0-9]{0,2}\.[0-9]{3}" if region.current().decimal_mark == "," else "[0-9]+,[0-9]{3}"
    if re.fullmatch(grouped, found[1]):
        return None
    return float(found[1].replace(",", ".")) * factor


def _read_rate(text: str) -> float | None:
    amount = _PER_SECOND.sub("", re.sub(r"bps\Z", "bit/s", text)).strip()
    if re.search(r"[0-9]\s*[kmgKMG]b\Z", amount):
        raise UsageError("rate_ambiguous", text=text)
    return _read(amount, {**_SIZES, **_BITS})


def _read_duration(text: str) -> float | None:
    return float(text) if re.fullmatch(r"[0-9]{1,18}", text) else periods.read_seconds(text)


def _read_time_of_day(text: str) -> float | None:
    """Minutes since midnight from 22:00, 22, 10 pm; Spanish writes p. m."""
    found = re.fullmatch(r"([0-9]{1,2})(?:[:.]([0-5][0-9]))?\s*(?:([ap])\.?\s?m\.?)?", text, re.IGNORECASE)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3]:
        hour = hour % 12 + (12 if found[3].lower() == "p" else 0)
    return hour * 60 + minute


def _read_whole(text: str) -> float | None:
    found = re.fullmatch(r"([0-9]{1,18})(?: threads?)?", text, re.ASCII)
    return float(found[1]) if found else None


def _with(name: str) -> Callable[[int], str]:
    return lambda value: numbers.with_unit(str(value), name)


def _reader(*names: str, factor: float = 1.0) -> Callable[[str], float | None]:
    return lambda text: _read(text, dict.fromkeys(("", *names), factor))


class _Unit(NamedTuple):
    write: Callable[[int], str]
    read: Callable[[str], float | None]
    example: int
    usual: str = ""
    """The unit that people mean by a number alone."""


_UNITS: dict[Unit, _Unit] = {
    "threads": _Unit(str, _read_whole, 2),
    "percent": _Unit(_with("%"), _reader("%", "percent"), 80),
    "bytes": _Unit(_size, lambda text: _read(text, _SIZES), 20 * 10**9, usual="GB"),
    "bytes/s": _Unit(lambda value: _exact(value, _BIT_RATES, 8), _read_rate, 10**6, usual="Mbit/s"),
    "celsius": _Unit(_with("°C"), _reader("c", "°c"), 75),
    "watts": _Unit(_with("W"), _reader("w", "watts"), 150),
    "seconds": _Unit(_duration, _read_duration, 180),
    "day": _Unit(str, _read_whole, 15),
    "time": _Unit(lambda value: times.time_of_day(*divmod(value, 60)), _read_time_of_day, 22 * 60),
    "port": _Unit(str, _read_whole, 31_000),
    "price": _Unit(lambda value: f"{_fraction(value, 1000)}/kWh", _reader("/kwh", factor=1000.0), 310),
    "g/kWh": _Unit(_with("g/kWh"), _reader("g/kwh", "g"), 400),
}

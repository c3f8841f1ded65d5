"""Quantities as people write them, to the whole numbers that go over the wire, and back. Pure.

Sizes are bytes, rates are bytes per second, durations seconds. `kB`, `MB`, `GB` are powers of 1000, `KiB`, `MiB`, `GiB`
powers of 1024 (IEC 80000-13).
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from core.api.errors import UsageError
from core.api.message import Message
from core.api.preferences import currencies
from core.api.preferences.limits import LimitInfo
from core.api.preferences.preferences import Preference

_SIZES = {"": 1, "b": 1, "byte": 1, "bytes": 1}
for _power, _letter in enumerate("kmgtp", start=1):
    _SIZES |= {_letter: 1000**_power, f"{_letter}b": 1000**_power, f"{_letter}ib": 1024**_power}
_BITS = {f"{letter}bit": 1000**power / 8 for power, letter in enumerate(("", "k", "m", "g"))}
_TIMES = {"s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_PER_SECOND = re.compile(r"(?:/s|/sec| per second|ps)\Z", re.IGNORECASE)
_NUMBER = r"([0-9]{1,18}(?:\.[0-9]{1,18})?)"
_AMOUNT = re.compile(_NUMBER + r"\s*([^0-9]*)\Z")
_DURATION_PART = re.compile(_NUMBER + r"\s*([a-z]+)\s*", re.IGNORECASE)

_BYTES, _RATE, _PERCENT, _CELSIUS, _SECONDS, _WATTS = "bytes", "bytes/s", "%", "°C", "seconds", "W"
_MINUTES, _TIME, _SWITCH = "minutes", "time", "switch"
_PRICE, _CURRENCY, _CARBON = "price", "currency", "g/kWh"
_SWITCHED = {"off": 0, "no": 0, "0": 0, "on": 1, "yes": 1, "1": 1}
_KINDS = {
    "bytes": _BYTES,
    "bytes/s": _RATE,
    "bytes per second": _RATE,
    "percent": _PERCENT,
    "%": _PERCENT,
    "celsius": _CELSIUS,
    "degrees Celsius": _CELSIUS,
    "°C": _CELSIUS,
    "seconds": _SECONDS,
    "watts": _WATTS,
    "W": _WATTS,
}
"""Spellings of one unit; every other unit has one."""
_SIZE_NAMES = {
    "PiB": 1024**5,
    "PB": 1000**5,
    "TiB": 1024**4,
    "TB": 1000**4,
    "GiB": 1024**3,
    "GB": 1000**3,
    "MiB": 1024**2,
    "MB": 1000**2,
    "KiB": 1024,
    "kB": 1000,
    "B": 1,
}
_TIME_NAMES = {"d": 86400, "h": 3600, "min": 60, "s": 1}
_WANTED = {
    _BYTES: Message("wanted_size"),
    _RATE: Message("wanted_rate"),
    _PERCENT: Message("wanted_percentage"),
    _CELSIUS: Message("wanted_temperature"),
    _SECONDS: Message("wanted_duration"),
    _MINUTES: Message("wanted_duration"),
    _TIME: Message("wanted_time"),
    _SWITCH: Message("wanted_switch"),
    _WATTS: Message("wanted_power"),
    _PRICE: Message("wanted_price"),
    _CURRENCY: Message("wanted_currency"),
}
"""What was expected, with an example; units without one take a plain number."""


def parse(text: str, unit: str, zero: str = "") -> int:
    """The whole number of `unit` that a person wrote; `zero` is a word for 0.

    Raises:
        UsageError: not a quantity of that unit; names how to write one.
    """
    kind = _KINDS.get(unit, unit)
    if zero and text.strip().lower() == zero:
        return 0
    reader = _READERS.get(kind)
    number = reader(text.strip()) if reader else _plain(text.strip(), kind.lower())
    if number is None:
        raise UsageError(
            "quantity_invalid", text=text, wanted=_WANTED.get(kind) or Message("wanted_number", {"unit": kind})
        )
    if number != int(number) and (kind not in _WANTED or number < 1):
        raise UsageError("quantity_not_whole", text=text, unit=unit)
    return round(number)


def parse_in_range(text: str, declared: Preference) -> int:
    """The value of a preference that a person wrote.

    Raises:
        UsageError: not a quantity of that unit, or outside the range.
    """
    try:
        value = parse(text, declared.unit, declared.zero)
    except UsageError as error:
        raise UsageError("limit_value_wrong", name=declared.name, problem=error.message) from None
    if not declared.lowest <= value <= declared.highest or 0 < value < declared.least:
        raise UsageError("limit_out_of_range", name=declared.name, allowed=write_range(declared), text=text.strip())
    return value


def parse_duration(text: str) -> int:
    """Seconds from `2h`, `90m`, `1h30m`; more than 0 and at most a year.

    Raises:
        UsageError: not a duration.
    """
    seconds = None if re.fullmatch(r"[0-9.]*", text.strip()) else _duration(text.strip())
    if seconds is None:
        raise UsageError("duration_invalid", text=text)
    if not 1 <= seconds <= 366 * 86400:
        raise UsageError("duration_too_long", text=text)
    return round(seconds)


def parse_since(text: str, now: datetime) -> datetime:
    """The start of a period: `2026-01-31`, `today`, `yesterday`, or so long ago: `7d`, `12h`. In the zone of `now`.

    Raises:
        UsageError: not a date.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    named = {"today": midnight, "yesterday": midnight - timedelta(days=1)}
    if text in named:
        return named[text]
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        seconds = _duration(text)
        if seconds is None or seconds > 100 * 366 * 86400:
            raise UsageError("date_invalid", text=text) from None
        return now - timedelta(seconds=seconds)
    return day if day.tzinfo else day.replace(tzinfo=now.tzinfo)


def write(value: int, unit: str, zero: str = "") -> str:
    """A limit's value exactly as `parse` reads it back, in the largest unit that needs no fraction."""
    kind = _KINDS.get(unit, unit)
    if zero and value == 0:
        return zero
    if kind in (_BYTES, _RATE):
        return _exact(value, _SIZE_NAMES) + ("/s" if kind == _RATE else "")
    if kind in (_SECONDS, _MINUTES):
        return _exact(value * 60 if kind == _MINUTES else value, _TIME_NAMES)
    if kind == _TIME:
        return f"{value // 60:02}:{value % 60:02}"
    if kind == _SWITCH and value in (0, 1):
        return ("off", "on")[value]
    if kind == _PRICE:
        return f"{value // 1000}.{value % 1000:03}".rstrip("0").rstrip(".") + "/kWh"
    if kind == _CURRENCY:
        return currencies.letters(value)
    if kind in (_PERCENT, _CELSIUS, _WATTS, _CARBON):
        return f"{value}{'' if kind == _PERCENT else ' '}{kind}"
    return str(value)


def write_range(declared: Preference | LimitInfo) -> str:
    """What may be chosen: `from 5% to 100%`, `automatic or from 1 to 1024`."""
    if declared.unit == _SWITCH:
        return "on or off"
    if declared.unit == _CURRENCY:
        return "the letters of a currency, as EUR"
    word = f"{declared.zero} or " if declared.zero else ""
    lowest = max(declared.least, declared.lowest, 1 if word else 0)
    return f"{word}from {write(lowest, declared.unit)} to {write(declared.highest, declared.unit)}"


def _exact(value: int, names: Mapping[str, int]) -> str:
    name, size = next(((name, size) for name, size in names.items() if value and value % size == 0), (None, 1))
    return f"{value // size} {name or list(names)[-1]}"


def _amount(text: str, factors: Mapping[str, float]) -> float | None:
    found = _AMOUNT.match(text)
    factor = factors.get(found[2].strip().lower()) if found else None
    return float(found[1]) * factor if found and factor is not None else None


def _plain(text: str, unit: str) -> float | None:
    return _amount(text, {"": 1, unit: 1, unit.removesuffix("s"): 1})


def _rate(text: str) -> float | None:
    amount = _PER_SECOND.sub("", re.sub(r"bps\Z", "bit/s", text)).strip()
    if re.search(r"[0-9]\s*[kmgKMG]b\Z", amount):
        raise UsageError("rate_ambiguous", text=text)
    return _amount(amount, {**_SIZES, **_BITS})


def _duration(text: str) -> float | None:
    if re.fullmatch(r"[0-9]{1,18}", text):
        return float(text)
    total, end = 0.0, 0
    for part in _DURATION_PART.finditer(text):
        factor = _TIMES.get(part[2].lower())
        if part.start() != end or factor is None:
            return None
        total, end = total + float(part[1]) * factor, part.end()
    return total if text and end == len(text) else None


def _minutes(text: str) -> float | None:
    if re.fullmatch(r"[0-9]{1,18}", text):
        return float(text)
    seconds = _duration(text)
    return None if seconds is None else seconds / 60


def _time_of_day(text: str) -> float | None:
    found = re.fullmatch(r"([0-9]{1,2}):([0-5][0-9])", text)
    return float(found[1]) * 60 + float(found[2]) if found else None


_READERS: dict[str, Callable[[str], float | None]] = {
    _BYTES: lambda text: _amount(text, _SIZES),
    _RATE: _rate,
    _PERCENT: lambda text: _amount(text, {"": 1, "%": 1, "percent": 1}),
    _CELSIUS: lambda text: _amount(text, {"": 1, "c": 1, "°c": 1}),
    _SECONDS: _duration,
    _MINUTES: _minutes,
    _TIME: _time_of_day,
    _SWITCH: lambda text: _SWITCHED.get(text.lower()),
    _WATTS: lambda text: _amount(text, {"": 1, "w": 1, "watts": 1}),
    _PRICE: lambda text: _amount(text, {"": 1000, "/kwh": 1000, "a kwh": 1000}),
    _CURRENCY: currencies.number,
}

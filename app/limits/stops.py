"""The round values that a slider offers, and where a value is among them. Pure; the entry beside it takes any value."""

import bisect
import math
import os

from core.api.preferences.value_types import Number, Unit

_MOST_STEPS = 100
_WIDE = 100
"""From this ratio of highest to lowest on, a step is a share of the value instead of an amount."""
_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
_ROUND_SECONDS = [minutes * 60 for minutes in (1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480, 720)]
_STEPS: dict[Unit, float] = {"bytes/s": 1 / 8, "time": 30, "price": 10}
"""What reads as one step, in the contract's unit; 1 for all others."""
_RANGES: dict[Unit, tuple[int, int]] = {
    "threads": (1, max(2, os.cpu_count() or 1)),
    "bytes": (10**8, 10**12),
    "bytes/s": (12_500, 125_000_000),
    "watts": (20, 600),
    "seconds": (60, 86_400),
    "price": (10, 600),
    "g/kWh": (10, 1000),
}
"""Where a slider begins and ends at most; the entry takes the number's whole range."""


def stops(number: Number) -> tuple[int, ...]:
    """From little to much. What 0 stands for, if it has a word, is none of them."""
    begin, end = _RANGES.get(number.unit, (number.lowest, number.highest))
    lowest = min(max(number.smallest, begin), number.highest)
    highest = max(lowest, min(number.highest, end))
    between = _between(lowest, highest, number.unit)
    return (lowest, *(value for value in between if lowest < value < highest), highest)


def stop_of(value: float, offered: tuple[int, ...]) -> float:
    """The place of a value among the stops, also between two of them."""
    right = bisect.bisect_left(offered, value)
    if right in {0, len(offered)}:
        return float(min(right, len(offered) - 1))
    left = offered[right - 1]
    return right - 1 + (value - left) / (offered[right] - left)


def stop_instead(number: Number, offered: tuple[int, ...]) -> int:
    """Where the slider stands while 0 applies: what it begins with when the volunteer wants a value after all."""
    match number.zero:
        case "unlimited":
            return len(offered) - 1
        case "automatic":
            return len(offered) // 2
        case _:
            return 0


def _between(lowest: int, highest: int, unit: Unit) -> list[int]:
    if unit == "seconds":
        return _ROUND_SECONDS
    step = _STEPS.get(unit, 1.0)
    wide = highest / max(lowest, step) >= _WIDE and unit in {"bytes", "bytes/s", "threads"}
    return _by_share(lowest, highest, step) if wide else _by_amount(lowest, highest, step)


def _by_amount(lowest: int, highest: int, size: float) -> list[int]:
    """Equal steps of 1, 2 or 5, times a power of ten."""
    steps = (factor * 10**power * size for power in range(20) for factor in (1, 2, 5))
    step = next(step for step in steps if (highest - lowest) / step <= _MOST_STEPS)
    return [round(number * step) for number in range(math.floor(lowest / step) + 1, math.ceil(highest / step))]


def _by_share(lowest: int, highest: int, size: float) -> list[int]:
    """Round numbers that grow: 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 15 …"""
    powers = range(math.floor(math.log10(lowest / size)), math.ceil(math.log10(highest / size)) + 1)
    return sorted({round(factor * 10.0**power * size) for power in powers for factor in _ROUND})

"""Weeks as people write them: a preset, windows of time, or a drawing. Pure; shared by the command line and the window.

Windows: `mon-fri 18:00-08:00; sat,sun; daily gentle 12:00-14:00` with a `;` or a new line between two. Each names its
days (`daily`, `mon-fri`, `sat,sun`), then, if not the whole day, its times in steps of half an hour, and the level if
it is not full. A window that ends before it starts runs overnight and belongs to the day it starts on. Later windows
paint over earlier ones, `off` too; what no window names is off. `#` begins a comment.
"""

import re
from collections.abc import Callable

from core.api.errors import UsageError
from core.api.preferences.schedule import CELL, CELLS, CELLS_A_DAY, DAYS, MARKS, PRESETS, Level, Preset, mark_of, read

_WINDOWS: dict[Preset, str] = {
    "always": "daily",
    "nights": "daily 22:00-06:00",
    "weekends": "sat,sun",
    "working_day_off": "daily; mon-fri 08:00-18:00 off",
    "gentle": "daily gentle",
    "never": "daily off",
}
_TIMES = re.compile(r"([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})")


def parse(text: str, in_english: Callable[[str], str] = str) -> str:
    """The cells of a text in any of the three forms. `in_english` puts these words in place of a language's own.

    Raises:
        UsageError: it has none of these forms; names the wrong part.
    """
    bare = "\n".join(line.partition("#")[0] for line in text.splitlines()).strip().lower()
    name = re.sub(r"[\s-]+", "_", in_english(bare).strip())
    if name in PRESETS:
        return preset_cells(name)
    if bare and set(bare) <= {*MARKS, *" \t\n"}:
        return read(bare)
    windows = [window.strip() for window in re.split(r"[;\n]", bare) if window.strip()]
    if not windows:
        raise UsageError("schedule_empty")
    return _painted(windows, in_english)


def preset_cells(preset: Preset) -> str:
    return _PRESET_CELLS[preset]


def preset_of(cells: str) -> Preset | None:
    """The preset with these cells."""
    return next((preset for preset, its in _PRESET_CELLS.items() if its == cells), None)


def _painted(windows: list[str], in_english: Callable[[str], str] = str) -> str:
    cells = [mark_of(Level.OFF)] * CELLS
    for window in windows:
        days, start, length, level = _window(window, in_english)
        for day in days:
            for cell in range(length):
                cells[(day * CELLS_A_DAY + start + cell) % CELLS] = mark_of(level)
    return "".join(cells)


def _window(text: str, in_english: Callable[[str], str]) -> tuple[list[int], int, int, Level]:
    """Days, first cell of the day, number of cells, level."""
    words = re.sub(r"\s*([-,])\s*", r"\1", in_english(text)).split()
    days, start, length, level = _days(words[0], text), 0, CELLS_A_DAY, Level.FULL
    for word in words[1:]:
        if word in list(Level):
            level = Level(word)
        elif _TIMES.fullmatch(word):
            start, length = _times(word)
        else:
            raise _wrong(word, text)
    return days, start, length, level


def _days(word: str, window: str) -> list[int]:
    if word == "daily":
        return list(range(7))
    days: list[int] = []
    for part in word.split(","):
        first, _, last = part.partition("-")
        if first not in DAYS or (last or first) not in DAYS:
            raise _wrong(part, window)
        # Across Sunday too: fri-mon.
        start, end = DAYS.index(first), DAYS.index(last or first)
        days += [(start + step) % 7 for step in range((end - start) % 7 + 1)]
    return days


def _times(word: str) -> tuple[int, int]:
    numbers = [int(number) for number in _TIMES.fullmatch(word).groups()]  # type: ignore[union-attr]  # it matched
    start, end = numbers[0] * 60 + numbers[1], numbers[2] * 60 + numbers[3]
    if numbers[1] > 59 or numbers[3] > 59 or start >= 24 * 60 or end > 24 * 60:
        raise UsageError("schedule_window_invalid", window=word)
    if start % CELL or end % CELL:
        raise UsageError("schedule_not_half_hours", window=word)
    return start // CELL, ((end - start) % (24 * 60) or 24 * 60) // CELL


def _wrong(word: str, window: str) -> UsageError:
    return UsageError("schedule_unclear", part=word, window=window, presets=PRESETS)


NEVER = mark_of(Level.OFF) * CELLS
_PRESET_CELLS: dict[Preset, str] = {preset: _painted(text.split("; ")) for preset, text in _WINDOWS.items()}

"""What a volunteer can choose: each preference declared once, with unit, range, default and page.

The same name and unit go all the way: preference, wire, SQLite, limit in the trainer. Human units exist only in `app`.

A new preference is a row of `_DECLARED`. If the trainer needs it, `SessionSettings`, or `Limits` inside, gets a field
of the same name; without one it stays in the engine, where the rules of `decide` read it. A row with a `gentle` default
also exists as `gentle.NAME`, the value for the gentle hours of the schedule.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from core.api.errors import UsageError
from core.api.session_settings import GIB, Limits, SessionSettings

GENTLE = "gentle."
"""Prefix of the names of limits for gentle hours."""

Unit = Literal[
    "threads",
    "percent",
    "bytes",
    "bytes/s",
    "celsius",
    "watts",
    "seconds",
    "minutes",
    "day",
    "time",
    "switch",
    "port",
    "price",
    "g/kWh",
    "currency",
]
"""`price` is thousandths of the currency for a kWh, `currency` a number of ISO 4217 (see `currencies`), `day` is
a day of the month, `time` minutes since local midnight, `switch` 0 (off) or 1 (on)."""
Page = Literal["processor", "gpu", "network", "presence", "storage", "privacy", "energy"]
"""Where front ends show it, in their order."""


_LONGEST_SHOWN = 40
"""Characters of a wrong value."""


@dataclass(frozen=True)
class Preference:
    """The declaration of one preference; values are whole numbers in `unit`."""

    name: str
    unit: Unit
    lowest: int
    highest: int
    default: int
    page: Page
    zero: str = ""
    """What 0 means if it is no ordinary value: `automatic`, `unlimited`. As a ceiling it then counts as none."""
    least: int = 0
    """The smallest value beside 0: a ceiling below it would stop everything."""
    gentle: int | None = None
    """Default of `gentle.NAME`; None: the same value counts at every level."""

    @property
    def plain_name(self) -> str:
        """The name without `gentle.`."""
        return self.name.removeprefix(GENTLE)

    @property
    def is_for_gentle_hours(self) -> bool:
        return self.name.startswith(GENTLE)

    @property
    def is_limit(self) -> bool:
        """Whether it is a ceiling, of which the lower is the stricter."""
        return self.plain_name in Limits.__struct_fields__

    def check(self, value: object) -> int:
        """The value, if it is allowed.

        Raises:
            UsageError: not a whole number, or outside the range.
        """
        if isinstance(value, bool) or not isinstance(value, int) or not self.lowest <= value <= self.highest:
            raise UsageError(
                "preference_out_of_range",
                name=self.name,
                unit=self.unit,
                lowest=self.lowest,
                highest=self.highest,
                value=repr(value)[:_LONGEST_SHOWN],
            )
        if 0 < value < self.least:
            raise UsageError(
                "preference_too_small",
                name=self.name,
                unit=self.unit,
                least=self.least,
                highest=self.highest,
                value=value,
            )
        return value

    def stricter(self, one: int, other: int) -> int:
        """The lower of two ceilings."""
        ceilings = [value for value in (one, other) if value or not self.zero]
        return min(ceilings, default=0)


_SLOWEST, _FASTEST = 16_000, 1 << 40
"""Bytes per second: below 128 kbit/s not even the talk among peers keeps its time limits."""

_DECLARED = (
    Preference("threads", "threads", 0, 1024, 0, page="processor", zero="automatic", gentle=1),
    Preference("processor_share", "percent", 5, 100, 100, page="processor", gentle=50),
    Preference("memory_limit", "bytes", 0, 1 << 50, 0, page="processor", zero="automatic", least=GIB >> 1),
    Preference("gpu_use", "switch", 0, 1, 1, page="gpu"),
    Preference("gpu_share", "percent", 5, 100, 80, page="gpu", gentle=40),
    Preference("gpu_temperature", "celsius", 40, 100, 80, page="gpu", gentle=70),
    Preference("gpu_power", "watts", 0, 2000, 0, page="gpu", zero="unlimited", least=20),
    Preference("gpu_memory", "bytes", 0, 1 << 50, 0, page="gpu", zero="unlimited", least=GIB),
    Preference("gpu_power_limit", "switch", 0, 1, 0, page="gpu"),
    Preference("cache_size", "bytes", 64 << 20, 1 << 50, 10 * GIB, page="storage"),
    Preference("upload_limit", "bytes/s", 0, _FASTEST, 0, page="network", zero="unlimited", least=_SLOWEST, gentle=0),
    Preference("download_limit", "bytes/s", 0, _FASTEST, 0, page="network", zero="unlimited", least=_SLOWEST, gentle=0),
    Preference("data_cap", "bytes", 0, 1 << 50, 0, page="network", zero="unlimited", least=1 << 20),
    Preference("data_cap_day", "day", 1, 28, 1, page="network"),
    Preference("network_from", "time", 0, 1439, 0, page="network"),
    Preference("network_until", "time", 0, 1439, 0, page="network"),
    Preference("metered", "switch", 0, 1, 0, page="network"),
    Preference("listen_port", "port", 0, 65535, 0, page="network", zero="none", least=1024),
    Preference("idle_gpu", "seconds", 0, 86_400, 180, page="presence", zero="do not wait"),
    Preference("idle_processor", "seconds", 0, 86_400, 0, page="presence", zero="do not wait"),
    Preference("full_screen", "switch", 0, 1, 0, page="presence"),
    Preference("on_battery", "switch", 0, 1, 0, page="presence"),
    Preference("battery_level", "percent", 0, 100, 50, page="presence"),
    Preference("publish_contributions", "switch", 0, 1, 1, page="privacy"),
    Preference("energy_price", "price", 0, 10_000_000, 0, page="energy", zero="not set"),
    Preference("currency", "currency", 0, 999, 0, page="energy", zero="not set"),
    Preference("grid_factor", "g/kWh", 0, 3000, 0, page="energy", zero="not set"),
    Preference("processor_power", "watts", 0, 1000, 0, page="energy", zero="not set"),
)


def _with_gentle(declared: tuple[Preference, ...]) -> dict[str, Preference]:
    """By name; each limit for gentle hours right after the limit it belongs to."""
    rows: dict[str, Preference] = {}
    for preference in declared:
        rows[preference.name] = preference
        if preference.gentle is not None:
            name = GENTLE + preference.name
            rows[name] = replace(preference, name=name, default=preference.gentle, gentle=None)
    return rows


PREFERENCES: dict[str, Preference] = _with_gentle(_DECLARED)


_ONE_GPU = re.compile(r"gpu(?P<number>[0-9]|[1-9][0-9])\.(?P<what>use|share|temperature|power|memory)")


def preference_named(name: str) -> Preference:
    """The declaration of `name`. `gpu1.temperature` is `gpu_temperature` of GPU 1 alone, and can only be stricter.

    Raises:
        UsageError: there is no such preference.
    """
    try:
        return PREFERENCES[name]
    except KeyError:
        if one := _ONE_GPU.fullmatch(name):
            return replace(PREFERENCES[f"gpu_{one['what']}"], name=name, gentle=None)
        raise UsageError("limit_unknown", name=name, known=tuple(PREFERENCES)) from None


def one_gpu(name: str) -> tuple[int, str] | None:
    """(number, general name) of a limit for one GPU alone: of `gpu1.share` 1 and `gpu_share`; None of any other."""
    one = _ONE_GPU.fullmatch(name)
    return (int(one["number"]), f"gpu_{one['what']}") if one else None


def effective_values(values: Mapping[str, int], *, gentle: bool) -> dict[str, int]:
    """What applies now of all that was chosen, by plain name.

    In gentle hours `gentle.NAME` replaces NAME, but never raises a limit: a volunteer who lowers the limit for all
    hours below the gentle one means the gentle hours too.
    """
    # What was chosen for one GPU applies at every level.
    effective = {name: value for name, value in values.items() if name not in PREFERENCES}
    for preference in _DECLARED:
        name, gentle_name = preference.name, GENTLE + preference.name
        effective[name] = values[name]
        if gentle and gentle_name in PREFERENCES:
            own = values[gentle_name]
            effective[name] = preference.stricter(own, values[name]) if preference.is_limit else own
    return effective


def settings_of(effective: Mapping[str, int]) -> SessionSettings:
    """The settings among the preferences that apply now."""
    limits = msgspec.convert(effective, Limits)
    return msgspec.structs.replace(msgspec.convert(effective, SessionSettings), limits=limits)


def effective_on_gpu(effective: Mapping[str, int], number: int) -> dict[str, int]:
    """What applies to GPU `number`: the stricter of what was chosen for all GPUs and for this one."""
    here = dict(effective)
    for what in ("use", "share", "temperature", "power", "memory"):
        name, own = f"gpu_{what}", f"gpu{number}.{what}"
        if own in effective:
            here[name] = PREFERENCES[name].stricter(effective[name], effective[own])
    return here

"""All preferences, each declared once with its type and the page that shows it.

Name and unit are the same in protocol, SQLite and session settings; human units exist only in `app`. A new preference
is a row of `_DECLARED`. If the trainer needs it, `SessionSettings`, or `Limits` inside, gets a field of the same name;
the rules of `decide` read all of them. A number with a `gentle` default also exists as `gentle.NAME`, the value for the
gentle hours of the schedule.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from core.api.errors import UsageError
from core.api.preferences import week_text
from core.api.preferences.currencies import CURRENCIES
from core.api.preferences.value_types import (
    Choice,
    Number,
    Programs,
    ProxyAddress,
    Secret,
    Switch,
    Text,
    Type,
    Value,
    Week,
)
from core.api.proxy import CHOICES, PASSWORD
from core.api.session_settings import GIB, Limits

GENTLE = "gentle."
"""Prefix of the names of limits for gentle hours."""

Page = Literal["processor", "gpu", "network", "presence", "storage", "privacy", "energy", "schedule"]
"""The page that shows it, in the pages' order."""

Values = Mapping[str, Any]
"""Values by name."""


class Preference(msgspec.Struct, frozen=True):
    """The declaration of one preference."""

    name: str
    page: Page
    type: Type

    @property
    def plain_name(self) -> str:
        """The name without `gentle.`."""
        return self.name.removeprefix(GENTLE)

    @property
    def default(self) -> Value:
        return self.type.default

    @property
    def is_for_gentle_hours(self) -> bool:
        return self.name.startswith(GENTLE)

    @property
    def is_limit(self) -> bool:
        """Whether it is a ceiling: lower is stricter."""
        return self.plain_name in Limits.__struct_fields__

    def check(self, value: object) -> Value:
        """Check a value and return it as it is stored.

        Raises:
            UsageError: the value is not allowed.
        """
        return self.type.check(self.name, value)


DISPLAY_NAME = Text(longest=32)
"""Characters; a backbone holds published names to the same length."""

_SLOWEST, _FASTEST = 16_000, 10**12
"""Bytes per second: below 128 kbit/s not even messages between peers meet their deadlines."""


def _rate() -> Number:
    return Number("bytes/s", 0, _FASTEST, 0, zero="unlimited", least=_SLOWEST, gentle=0)


_DECLARED = (
    Preference("threads", "processor", Number("threads", 0, 1024, 0, zero="automatic", gentle=1)),
    Preference("processor_share", "processor", Number("percent", 5, 100, 100, gentle=50)),
    Preference("memory_limit", "processor", Number("bytes", 0, 1 << 50, 0, zero="automatic", least=GIB >> 1)),
    Preference("gpu_use", "gpu", Switch(True)),
    Preference("gpu_share", "gpu", Number("percent", 5, 100, 80, gentle=40)),
    Preference("gpu_temperature", "gpu", Number("celsius", 40, 100, 80, gentle=70)),
    Preference("gpu_power", "gpu", Number("watts", 0, 2000, 0, zero="unlimited", least=20)),
    Preference("gpu_memory", "gpu", Number("bytes", 0, 1 << 50, 0, zero="unlimited", least=GIB)),
    Preference("gpu_power_limit", "gpu", Switch(False)),
    Preference("cache_size", "storage", Number("bytes", 64 << 20, 1 << 50, 10 * GIB)),
    Preference("upload_limit", "network", _rate()),
    Preference("download_limit", "network", _rate()),
    Preference("data_cap", "network", Number("bytes", 0, 1 << 50, 0, zero="unlimited", least=1 << 20)),
    Preference("data_cap_day", "network", Number("day", 1, 28, 1)),
    Preference("network_from", "network", Number("time", 0, 1439, 0)),
    Preference("network_until", "network", Number("time", 0, 1439, 0)),
    Preference("metered", "network", Switch(False)),
    Preference("listen_port", "network", Number("port", 0, 65535, 0, zero="none", least=1024)),
    Preference("port_mapping", "network", Choice(("ask", "yes", "no"), default="ask")),
    Preference("proxy", "network", Choice(CHOICES, default="system")),
    Preference("proxy_address", "network", ProxyAddress()),
    Preference(PASSWORD, "network", Secret(longest=256)),
    Preference("idle_gpu", "presence", Number("seconds", 0, 86_400, 180, zero="do not wait")),
    Preference("idle_processor", "presence", Number("seconds", 0, 86_400, 0, zero="do not wait")),
    Preference("busy_processor", "presence", Number("percent", 0, 100, 75, zero="do not wait", least=5)),
    Preference("full_screen", "presence", Switch(False)),
    Preference("resume_at_start", "presence", Switch(True)),
    Preference("programs", "presence", Programs(most=64)),
    Preference("on_battery", "presence", Switch(False)),
    Preference("battery_level", "presence", Number("percent", 0, 100, 50)),
    Preference("publish_contributions", "privacy", Switch(True)),
    Preference("display_name", "privacy", DISPLAY_NAME),
    Preference("check_releases", "privacy", Switch(True)),
    Preference("release_address", "privacy", Text(longest=1000)),
    Preference("energy_price", "energy", Number("price", 0, 10_000_000, 0, zero="not set")),
    Preference("currency", "energy", Choice(CURRENCIES)),
    Preference("grid_factor", "energy", Number("g/kWh", 0, 3000, 0, zero="not set")),
    Preference("processor_power", "energy", Number("watts", 0, 1000, 0, zero="not set")),
    Preference("week", "schedule", Week(week_text.preset_cells("always"))),
)


def _with_gentle(declared: tuple[Preference, ...]) -> dict[str, Preference]:
    """By name; each limit for gentle hours right after the limit it belongs to."""
    rows: dict[str, Preference] = {}
    for preference in declared:
        rows[preference.name] = preference
        if isinstance(preference.type, Number) and preference.type.gentle is not None:
            name, gentle = GENTLE + preference.name, replace(preference.type, default=preference.type.gentle)
            rows[name] = Preference(name, preference.page, replace(gentle, gentle=None))
    return rows


PREFERENCES: dict[str, Preference] = _with_gentle(_DECLARED)
DEFAULTS: Values = {name: preference.default for name, preference in PREFERENCES.items()}

_ONE_GPU = re.compile(r"gpu(?P<number>[0-9]|[1-9][0-9])\.(?P<what>use|share|temperature|power|memory)")


def preference_named(name: str) -> Preference:
    """The declaration of `name`. `gpu1.temperature` is `gpu_temperature` of GPU 1 alone, and can only be stricter.

    Raises:
        UsageError: there is no such preference.
    """
    if declared := PREFERENCES.get(name):
        return declared
    if one := one_gpu(name):
        general = PREFERENCES[one[1]]
        return Preference(name, general.page, general.type)
    raise UsageError("preference_unknown", name=name, known=tuple(PREFERENCES))


def one_gpu(name: str) -> tuple[int, str] | None:
    """(number, general name) of a preference for one GPU alone: of `gpu1.share` 1 and `gpu_share`; None of another."""
    one = _ONE_GPU.fullmatch(name)
    return (int(one["number"]), f"gpu_{one['what']}") if one else None


def restored(name: str, stored: object) -> Value:
    """A stored value or, if this program does not allow it, the safest one.

    Raises:
        UsageError: there is no such preference.
    """
    preference = preference_named(name)
    try:
        return preference.check(stored)
    except UsageError:
        # An unreadable week contributes at no time.
        return week_text.NEVER if isinstance(preference.type, Week) else preference.default

"""Which preference a failure or a reason is about.

Front ends lead to it, and the engine tries again when it is changed so that more is allowed.
"""

from collections.abc import Mapping

from core.api.message import Message
from core.api.preferences.preferences import Values
from core.api.preferences.value_types import Value
from core.api.reasons import Reason

REMEDIES: Mapping[str, str] = {
    # Failures.
    "memory_over_limit": "memory_limit",
    "memory_over_half": "memory_limit",
    "gpu_memory_full": "gpu_memory",
    "gpu_not_usable": "gpu_use",
    "cache_too_small": "cache_size",
    "upload_too_slow": "upload_limit",
    "download_too_slow": "download_limit",
    "line_too_slow": "upload_limit",
    "proxy_missing": "proxy_address",
    "proxy_scheme": "proxy",
    "proxy_unreachable": "proxy",
    "proxy_refuses": "proxy",
    # Reasons.
    "processor_busy": "busy_processor",
    "full_screen": "full_screen",
    "program_running": "programs",
    "on_battery": "on_battery",
    "battery_low": "battery_level",
    "metered": "metered",
    "data_cap": "data_cap",
    "network_hours": "network_from",
    "gpu_hot": "gpu_temperature",
    "gpu_memory": "gpu_memory",
}
"""By kind."""

_PROXY = ("proxy", "proxy_address", "proxy_password")
"""A change of any of them may let requests through."""


def remedy(about: Reason | Message) -> str | None:
    """The name of the preference, also of a failure inside a reason; None if no preference helps."""
    inner = (value for value in about.params.values() if isinstance(value, Message))
    return REMEDIES.get(about.kind) or next(filter(None, map(remedy, inner)), None)


def is_lifted(error: Message, before: Values, after: Values) -> bool:
    """Whether what caused a failure is allowed more since preferences had the values `before`."""
    name = remedy(error)
    if name is None:
        return False
    about = _PROXY if name in _PROXY else (name,)
    return any(_allows_more(before[each], after[each]) for each in about)


def _allows_more(before: Value, after: Value) -> bool:
    if before == after:
        return False
    if not (isinstance(before, int) and isinstance(after, int)):
        return True
    # 0 leaves the choice to Idlehive, or is no ceiling.
    return not before or not after or after > before

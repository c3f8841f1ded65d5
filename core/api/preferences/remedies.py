"""Which preference a failure or a reason is about.

Front ends lead to it, and the engine tries again when it is changed so that more is allowed.
"""

from collections.abc import Mapping

from core.api.message import Message
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


def remedy(about: Reason | Message) -> str | None:
    """The name of the preference, also of a failure inside a reason; None if no preference helps."""
    inner = (value for value in about.params.values() if isinstance(value, Message))
    return REMEDIES.get(about.kind) or next(filter(None, map(remedy, inner)), None)


def is_lifted(error: Message, before: Mapping[str, int], after: Mapping[str, int]) -> bool:
    """Whether what caused a failure is allowed more since preferences had the values `before`."""
    name = remedy(error)
    if name is None or before[name] == after[name]:
        return False
    # 0 leaves the choice to Idlehive, or is no ceiling.
    return not before[name] or not after[name] or after[name] > before[name]

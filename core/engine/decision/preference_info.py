"""A preference as front ends see it: the chosen value, the one that applies now, and why they differ. Pure."""

from typing import Any

from core.api.message import Message
from core.api.preferences.commands import PreferenceInfo
from core.api.preferences.effective import effective_on_gpu, effective_values
from core.api.preferences.preferences import Preference, Values, one_gpu, preference_named
from core.api.preferences.schedule import Level

GENTLE_HOURS = Message("gentle_hours")


def preference_info(name: str, values: Values, effective: Values, level: Level) -> PreferenceInfo:
    """`values` are the chosen ones, `effective` those that apply now, by plain name; `level` is this hour's.

    Raises:
        UsageError: there is no such preference.
    """
    preference = preference_named(name)
    # A limit for one GPU alone has no value until one is chosen.
    value = values.get(name, preference.default)
    now, why = _effective(preference, value, values, effective, level)
    return PreferenceInfo(name, value, now, preference.type, preference.page, why if now != value else None)


def _effective(
    preference: Preference, value: Any, values: Values, effective: Values, level: Level
) -> tuple[Any, Message]:
    plain, gentle = preference.plain_name, level is Level.GENTLE
    if preference.is_for_gentle_hours:
        return effective_values(values, gentle=True)[plain], _lower(plain)
    of_this_hour = effective_values(values, gentle=gentle)
    if one := one_gpu(plain):
        number, general = one
        here = effective_on_gpu(of_this_hour, number)[general] if plain in values else value
        by_hour = gentle and of_this_hour[general] != values[general]
        return here, GENTLE_HOURS if by_hour else _lower(general)
    now = effective.get(plain, value)
    if now == of_this_hour[plain]:
        return now, GENTLE_HOURS
    causes = (name for name, chosen in values.items() if chosen == now and (one_gpu(name) or (0, ""))[1] == plain)
    return now, _lower(next(causes, plain))


def _lower(name: str) -> Message:
    """Another limit is lower: that of one GPU, or a general one."""
    one = one_gpu(name)
    return Message("gpu_limit_lower", {"number": one[0]}) if one else Message("limit_lower", {"name": name})

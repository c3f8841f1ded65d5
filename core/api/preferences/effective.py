"""The values that apply now of the volunteer's preferences. Pure."""

import msgspec

from core.api.preferences.preferences import GENTLE, PREFERENCES, Values
from core.api.preferences.value_types import Number, Type
from core.api.session_settings import Limits, SessionSettings


def effective_values(values: Values, *, gentle: bool) -> Values:
    """By plain name.

    In gentle hours `gentle.NAME` replaces NAME, but never raises a limit: a volunteer who lowers the limit for all
    hours below the gentle one means the gentle hours too.
    """
    effective = {name: value for name, value in values.items() if not name.startswith(GENTLE)}
    for preference in PREFERENCES.values() if gentle else ():
        if preference.is_for_gentle_hours:
            name, own = preference.plain_name, values[preference.name]
            effective[name] = stricter(preference.type, own, values[name]) if preference.is_limit else own
    return effective


def effective_on_gpu(effective: Values, number: int) -> Values:
    """What applies to GPU `number`: the stricter of what was chosen for all GPUs and for this one."""
    here = dict(effective)
    for what in ("use", "share", "temperature", "power", "memory"):
        name, own = f"gpu_{what}", f"gpu{number}.{what}"
        if own in effective:
            here[name] = stricter(PREFERENCES[name].type, effective[name], effective[own])
    return here


def stricter(of: Type, one: int, other: int) -> int:
    """The lower of two ceilings; of two switches, off."""
    return of.stricter(one, other) if isinstance(of, Number) else min(one, other)


def settings_of(effective: Values) -> SessionSettings:
    """The settings of a session among the preferences that apply now."""
    limits = msgspec.convert(effective, Limits)
    return msgspec.structs.replace(msgspec.convert(effective, SessionSettings), limits=limits)

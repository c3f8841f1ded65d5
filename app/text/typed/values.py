"""Values of preferences as people read and write them, by type, for window and command line. Pure."""

from typing import Any

from app.text.i18n import N_, tr, translate
from app.text.typed import quantities, week
from core.api.errors import UsageError
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
    programs,
)

_SHOWN_OPTIONS = 3
_WORDS = (N_("ask"), N_("yes"), N_("no"), N_("system"), N_("none"), N_("own"))
"""Options that are words. The others, such as EUR, are the same in every language."""
_ADDRESS = "http://proxy.example:3128"


def write(value: Any, of: Type) -> str:
    """A value, as `parse` reads it back."""
    match of:
        case Number():
            return quantities.write(value, of)
        case Switch():
            return tr("on") if value else tr("off")
        case Choice() | Text() | ProxyAddress() | Secret() if not value:
            return tr("not set")
        case Choice():
            return translate(value)
        case Text() | ProxyAddress():
            return str(value)
        case Secret():
            return tr("set")
        case Programs():
            return ", ".join(value) or tr("none")
        case Week():
            return week.name(value)


def parse(text: str, of: Type) -> Value:
    """The value of a typed text.

    Raises:
        UsageError: it cannot be read, or is not allowed.
    """
    typed = text.strip()
    match of:
        case Number():
            return quantities.parse(typed, of)
        case Switch():
            return _switched(typed)
        case Choice() | Text() | ProxyAddress() | Secret() if typed.lower() in {"", "not set", tr("not set").lower()}:
            return ""
        case Choice():
            return _option(typed, of)
        case Text() | ProxyAddress():
            return typed
        case Secret():
            return text
        case Programs():
            return () if typed.lower() in {"", "none", tr("none").lower()} else programs(typed.split(","))
        case Week():
            return week.parse(typed)


def allowed(of: Type) -> str:
    match of:
        case Number():
            return quantities.allowed(of)
        case Switch():
            return tr("on or off")
        case Choice():
            shown = [translate(option) for option in of.options[:_SHOWN_OPTIONS]]
            return ", ".join([*shown, "…"] if len(of.options) > _SHOWN_OPTIONS else shown)
        case Text() | Secret():
            return tr("up to {count} characters", count=of.longest)
        case ProxyAddress():
            return tr("such as {example}", example=_ADDRESS)
        case Programs():
            return tr("up to {count} programs", count=of.most)
        case Week():
            return tr("a preset, or times of the week")


def _switched(typed: str) -> bool:
    is_on = typed.lower() in {"on", "yes", "1", tr("on").lower()}
    if not is_on and typed.lower() not in {"off", "no", "0", tr("off").lower()}:
        raise UsageError("value_unclear", text=typed, example=tr("on"))
    return is_on


def _option(typed: str, of: Choice) -> str:
    for option in of.options:
        if typed.lower() in {option.lower(), translate(option).lower()}:
            return option
    raise UsageError("value_not_offered", text=typed, options=of.options)

"""How front ends see and change preferences."""

from collections.abc import Iterable
from typing import Any

import msgspec

from core.api.message import Message
from core.api.preferences.value_types import Type, Value


class ListPreferences(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of PreferenceInfo; `gentle.NAME`, its value in gentle hours, follows NAME."""


class SetPreference(msgspec.Struct, frozen=True, tag=True):
    """Reply: PreferenceInfo."""

    name: str
    value: Value


class ResetPreference(msgspec.Struct, frozen=True, tag=True):
    """Reply: PreferenceInfo."""

    name: str


class PreferenceInfo(msgspec.Struct, frozen=True):
    """A preference with its value, the value that applies now, and its declaration."""

    name: str
    value: Value
    effective: Value
    """After all restrictions. For a limit of gentle hours: what would apply in one."""
    type: Type
    page: str = ""
    """The page that shows it."""
    why: Message | None = None
    """Why another value applies than the one chosen; None if that one applies."""

    @property
    def default(self) -> Value:
        return self.type.default


def values_of(known: Iterable[PreferenceInfo]) -> dict[str, Any]:
    """Value by name."""
    return {info.name: info.value for info in known}


PreferenceCommand = ListPreferences | SetPreference | ResetPreference

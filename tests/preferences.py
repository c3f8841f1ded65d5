"""Preferences as an engine would show them."""

from typing import TYPE_CHECKING, Any

from core.api.message import Message
from core.api.preferences.commands import ListPreferences, PreferenceInfo, ResetPreference, SetPreference
from core.api.preferences.preferences import PREFERENCES, preference_named

if TYPE_CHECKING:
    from tests.fakes.scripted_engine import ScriptedEngine


def info(name: str, value: Any = None, effective: Any = None, why: Message | None = None) -> PreferenceInfo:
    """One preference; by default at its default value, and the chosen value applies."""
    declared = preference_named(name)
    chosen = declared.default if value is None else value
    return PreferenceInfo(name, chosen, chosen if effective is None else effective, declared.type, declared.page, why)


class Chosen:
    """The preferences of a scripted engine: what is set is what is shown next."""

    def __init__(self, engine: "ScriptedEngine") -> None:
        self.now = {name: info(name) for name in PREFERENCES}
        engine.answer(ListPreferences, lambda _: list(self.now.values()))
        engine.answer(SetPreference, lambda command: self.change(command.name, command.value))
        engine.answer(ResetPreference, lambda command: self.change(command.name, None))

    def change(self, name: str, value: Any) -> PreferenceInfo:
        self.now[name] = info(name, None if value is None else preference_named(name).check(value))
        return self.now[name]

"""Preferences by name, as the engine has them."""

from typing import Any

from core.api.preferences.commands import ListPreferences, PreferenceInfo, SetPreference, values_of
from core.client.engine_client import EngineClient


def chosen(engine: EngineClient) -> dict[str, Any]:
    """Value by name."""
    return values_of(engine.request(ListPreferences(), list[PreferenceInfo]))


def choose(engine: EngineClient, name: str, value: Any) -> Any:
    """Have a preference set; the value as it is stored."""
    return engine.request(SetPreference(name, value), PreferenceInfo).value

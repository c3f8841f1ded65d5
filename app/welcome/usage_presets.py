"""How much of a computer is lent, in one word: each comfort level is a week and a few limits. Pure.

The engine gets them as the commands that the schedule and the limits pages send, so each can be changed there later.
"""

from enum import Enum

from app.text.i18n import tr
from core.api.intent import Contribute, Override
from core.api.preferences.commands import SetPreference
from core.api.preferences.schedule import CELLS, Level, mark_of
from core.api.preferences.week_text import preset_cells
from core.api.protocol import Command

_AWAY = 180
"""Seconds without mouse and keyboard after which nobody counts as there."""


class UsagePreset(Enum):
    """In the order in which they are offered."""

    GENTLE = "gentle"
    AWAY = "away"
    NIGHTS = "nights"
    CUSTOM = "custom"


def words(usage_preset: UsagePreset) -> tuple[str, str]:
    """Name and meaning."""
    return {
        UsagePreset.GENTLE: (
            tr("Gently, always"),
            tr("A small part of the computer at any time, also while you work. You will hardly notice."),
        ),
        UsagePreset.AWAY: (
            tr("When I am away"),
            tr("All that your limits allow, once mouse and keyboard have rested for three minutes."),
        ),
        UsagePreset.NIGHTS: (
            tr("Nights only"),
            tr("Idlehive works from 22:00 to 06:00, while nobody uses the computer."),
        ),
        UsagePreset.CUSTOM: (
            tr("My own settings"),
            tr("Nothing is set for you: paint your week and choose every limit yourself."),
        ),
    }[usage_preset]


def settings(usage_preset: UsagePreset) -> tuple[Command, ...]:
    """What to ask of the engine; nothing for a volunteer who sets everything alone."""
    match usage_preset:
        case UsagePreset.GENTLE:
            return SetPreference("week", mark_of(Level.GENTLE) * CELLS), *_waits(0)
        case UsagePreset.AWAY:
            return SetPreference("week", preset_cells("always")), *_waits(_AWAY)
        case UsagePreset.NIGHTS:
            return SetPreference("week", preset_cells("nights")), *_waits(_AWAY)
        case UsagePreset.CUSTOM:
            return ()


def contribution(usage_preset: UsagePreset, project: str | None) -> Contribute:
    """To begin with. Who asked for nights does not ask for this afternoon."""
    override: Override = "none" if usage_preset is UsagePreset.NIGHTS else "next_edge"
    return Contribute(project, override=override)


def _waits(seconds: int) -> tuple[Command, ...]:
    return SetPreference("idle_processor", seconds), SetPreference("idle_gpu", seconds)

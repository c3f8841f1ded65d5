"""The reasons why nothing is contributed, short enough for a headline and the tray.

The engine's own sentence says more (which program, how warm); the home page shows it below.
"""

from app.texts import tr
from core.api.reasons import Kind, Reason


def headline(reason: Reason) -> str:
    """Without its end and without a full stop; a kind without words here is told in the engine's own."""
    return _headlines().get(reason.kind, reason.text.rstrip(" ."))


def has_words(kind: Kind) -> bool:
    """Whether it has a headline, or needs none because its text is all there is to say."""
    return kind in _headlines() or kind in {Kind.NO_PROJECT, Kind.BACKING_OFF, Kind.GAVE_UP}


def detail(reason: Reason) -> str:
    """What the engine says beyond the headline, a sentence; empty if that is all."""
    return "" if reason.kind in _TOLD_BY_HEADLINE or reason.kind not in _headlines() else reason.text


_TOLD_BY_HEADLINE = {"paused", "snoozed", "outside_schedule", "on_battery", "metered", "offline", "gpu_changed"}


def _headlines() -> dict[str, str]:
    """By kind."""
    return {
        "paused": tr("Paused"),
        "snoozed": tr("Paused"),
        "outside_schedule": tr("Waiting: outside the hours of your schedule"),
        "in_use": tr("Waiting: you are using this computer"),
        "full_screen": tr("Waiting: a program fills the screen"),
        "program_running": tr("Waiting: a program of your list is running"),
        "on_battery": tr("Waiting: the computer runs on its battery"),
        "battery_low": tr("Waiting: the battery is low"),
        "metered": tr("Waiting: the network is metered"),
        "offline": tr("Waiting: no connection to the internet"),
        "data_cap": tr("Waiting: the data of this month is used up"),
        "network_hours": tr("Waiting: outside the hours in which the network may be used"),
        "network_too_slow": tr("This project needs more bandwidth than your limits allow"),
        "gpu_taken": tr("Waiting: another program is using the graphics card"),
        "gpu_hot": tr("Waiting: the graphics card is too warm"),
        "gpu_missing": tr("The graphics card does not answer"),
        "gpu_memory": tr("Waiting: too little graphics memory is free"),
        "gpu_changed": tr("Changing to another graphics card"),
        "memory_short": tr("Waiting: too little memory is free"),
    }

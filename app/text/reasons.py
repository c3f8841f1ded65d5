"""The reasons why nothing is contributed, short enough for a headline and the tray.

The engine's own sentence says more (which program, how warm); the home page shows it below.
"""

from app.text.i18n import said, tr
from core.api.reasons import Kind, Reason


def headline(reason: Reason) -> str:
    """Without its end and without a full stop; a kind without words here is told in the engine's own."""
    return _headlines().get(reason.kind, said(reason.text).rstrip(" ."))


def has_words(kind: Kind) -> bool:
    """Whether it has a headline, or needs none because its text is all there is to say."""
    return kind in _headlines() or kind in {Kind.NO_PROJECT, Kind.BACKING_OFF, Kind.GAVE_UP}


def detail(reason: Reason) -> str:
    """What the engine says beyond the headline, a sentence; empty if that is all."""
    return "" if reason.kind in _TOLD_BY_HEADLINE or reason.kind not in _headlines() else said(reason.text)


_TOLD_BY_HEADLINE = {
    Kind.PAUSED,
    Kind.SNOOZED,
    Kind.OUTSIDE_SCHEDULE,
    Kind.ON_BATTERY,
    Kind.METERED,
    Kind.OFFLINE,
    Kind.NETWORK_HOURS,
    Kind.GPU_CHANGED,
    Kind.GOING_TO_SLEEP,
}


def _headlines() -> dict[Kind, str]:
    """By kind."""
    return {
        Kind.PAUSED: tr("Paused"),
        Kind.SNOOZED: tr("Paused"),
        Kind.OUTSIDE_SCHEDULE: tr("Waiting: outside the hours of your schedule"),
        Kind.IN_USE: tr("Waiting: you are using this computer"),
        Kind.FULL_SCREEN: tr("Waiting: a program fills the screen"),
        Kind.PROGRAM_RUNNING: tr("Waiting: a program of your list is running"),
        Kind.ON_BATTERY: tr("Waiting: the computer runs on its battery"),
        Kind.BATTERY_LOW: tr("Waiting: the battery is low"),
        Kind.METERED: tr("Waiting: the network is metered"),
        Kind.OFFLINE: tr("Waiting: no connection to the internet"),
        Kind.DATA_CAP: tr("Waiting: the data of this month is used up"),
        Kind.NETWORK_HOURS: tr("Waiting: outside the hours in which the network may be used"),
        Kind.NETWORK_TOO_SLOW: tr("This project needs more bandwidth than your limits allow"),
        Kind.GPU_TAKEN: tr("Waiting: another program is using the graphics card"),
        Kind.GPU_HOT: tr("Waiting: the graphics card is too warm"),
        Kind.GPU_MISSING: tr("The graphics card does not answer"),
        Kind.GPU_MEMORY: tr("Waiting: too little graphics memory is free"),
        Kind.GPU_CHANGED: tr("Changing to another graphics card"),
        Kind.GOING_TO_SLEEP: tr("The computer is going to sleep"),
        Kind.WOKEN: tr("Coming back after sleep"),
    }

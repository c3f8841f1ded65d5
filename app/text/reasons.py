"""The reasons why nothing is contributed, for window and command line: a headline, a sentence, and its detail."""

from typing import NamedTuple

from app.text import messages
from app.text.i18n import tr
from core.api.reasons import Kind, Reason


class Words(NamedTuple):
    """How a kind of reason is worded."""

    sentence: str
    headline: str = ""
    """Short enough for the tray, without a full stop; empty: the sentence."""
    says_all: bool = False
    """The sentence adds nothing to the headline."""


def sentence(reason: Reason) -> str:
    """In full, without its end."""
    known = words().get(reason.kind)
    return messages.fill(known.sentence, reason.params) if known else str(reason.kind)


def headline(reason: Reason) -> str:
    """Without its end and without a full stop."""
    known = words().get(reason.kind)
    return (known and known.headline) or sentence(reason).rstrip(" .")


def detail(reason: Reason) -> str:
    """What the sentence adds to the headline; empty if nothing."""
    known = words().get(reason.kind)
    return sentence(reason) if known and known.headline and not known.says_all else ""


def words() -> dict[Kind, Words]:
    """By kind."""
    return {**_of_volunteer(), **_of_machine(), **_of_network(), **_of_gpu(), **_of_session()}


def _of_volunteer() -> dict[Kind, Words]:
    return {
        Kind.PAUSED: Words(tr("You paused contributing."), tr("Paused"), says_all=True),
        Kind.SNOOZED: Words(tr("You paused contributing for a while."), tr("Paused"), says_all=True),
        Kind.OUTSIDE_SCHEDULE: Words(
            tr("Outside the hours of your schedule."), tr("Waiting: outside the hours of your schedule"), says_all=True
        ),
        Kind.NO_PROJECT: Words(tr("You have not joined a project yet.")),
    }


def _of_machine() -> dict[Kind, Words]:
    return {
        Kind.IN_USE: Words(
            tr("You are using the computer; contributing resumes {wait:duration} after the last input."),
            tr("Waiting: you are using this computer"),
        ),
        Kind.FULL_SCREEN: Words("{what}.", tr("Waiting: a program fills the screen")),
        Kind.PROGRAM_RUNNING: Words(
            tr("You asked Idlehive to wait while this runs: {programs}."),
            tr("Waiting: a program of your list is running"),
        ),
        Kind.ON_BATTERY: Words(
            tr("The computer runs on its battery."), tr("Waiting: the computer runs on its battery"), says_all=True
        ),
        Kind.BATTERY_LOW: Words(tr("The battery is less than {lowest} % full."), tr("Waiting: the battery is low")),
        Kind.GOING_TO_SLEEP: Words(
            tr("The computer is going to sleep."), tr("The computer is going to sleep"), says_all=True
        ),
        Kind.WOKEN: Words(
            tr("The computer has slept: a new session begins with the state of the other peers."),
            tr("Coming back after sleep"),
        ),
    }


def _of_network() -> dict[Kind, Words]:
    return {
        Kind.OFFLINE: Words("{cause}", tr("Waiting: no connection to the internet"), says_all=True),
        Kind.METERED: Words(tr("The network is metered."), tr("Waiting: the network is metered"), says_all=True),
        Kind.DATA_CAP: Words(
            tr("The {cap:size} that you allow over the network in a month are used up."),
            tr("Waiting: the data of this month is used up"),
        ),
        Kind.NETWORK_HOURS: Words(
            tr("Outside the hours in which the network may be used."),
            tr("Waiting: outside the hours in which the network may be used"),
            says_all=True,
        ),
        Kind.NETWORK_TOO_SLOW: Words("{cause}", tr("This project needs more bandwidth than your limits allow")),
    }


def _of_gpu() -> dict[Kind, Words]:
    return {
        Kind.GPU_TAKEN: Words(
            tr("Another program is using the graphics card: {programs}."),
            tr("Waiting: another program is using the graphics card"),
        ),
        Kind.GPU_HOT: Words(
            tr("The graphics card is too warm even at rest: {temperature} °C."),
            tr("Waiting: the graphics card is too warm"),
        ),
        Kind.GPU_MISSING: Words(
            tr("The graphics card does not answer. {cause}"), tr("The graphics card does not answer")
        ),
        Kind.GPU_MEMORY: Words(
            tr("The graphics card has too little free memory: {needed:size} are needed, {available:size} may be used."),
            tr("Waiting: too little graphics memory is free"),
        ),
        Kind.GPU_CHANGED: Words(
            tr("From now on another graphics card is used."), tr("Changing to another graphics card"), says_all=True
        ),
    }


def _of_session() -> dict[Kind, Words]:
    return {
        Kind.BACKING_OFF: Words(tr("The last session failed and is tried again soon: {failure}")),
        Kind.GAVE_UP: Words(tr("The session cannot go on without you: {failure}")),
    }

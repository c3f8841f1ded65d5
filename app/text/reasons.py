"""The reasons why nothing is contributed, for window and command line: a headline, a sentence, and its detail."""

from typing import NamedTuple

from app.text import messages
from app.text.i18n import N_, translate
from core.api.reasons import Kind, Reason


class Words(NamedTuple):
    """How a kind of reason is worded, in English."""

    sentence: str
    headline: str = ""
    """Short enough for the tray, without a full stop; empty: the sentence."""
    says_all: bool = False
    """The sentence adds nothing to the headline."""


WORDS = {
    # The volunteer's choice.
    Kind.PAUSED: Words(N_("You paused contributing."), N_("Paused"), says_all=True),
    Kind.SNOOZED: Words(N_("You paused contributing for a while."), N_("Paused"), says_all=True),
    Kind.OUTSIDE_SCHEDULE: Words(
        N_("Outside the hours of your schedule."), N_("Waiting: outside the hours of your schedule"), says_all=True
    ),
    Kind.NO_PROJECT: Words(N_("You have not joined a project yet.")),
    # The computer.
    Kind.IN_USE: Words(
        N_("You are using the computer; contributing resumes {wait:duration} after the last input."),
        N_("Waiting: you are using this computer"),
    ),
    Kind.FULL_SCREEN: Words("{what}.", N_("Waiting: a program fills the screen")),
    Kind.PROGRAM_RUNNING: Words(
        N_("You asked Idlehive to wait while this runs: {programs}."),
        N_("Waiting: a program of your list is running"),
    ),
    Kind.ON_BATTERY: Words(
        N_("The computer runs on its battery."), N_("Waiting: the computer runs on its battery"), says_all=True
    ),
    Kind.BATTERY_LOW: Words(N_("The battery is less than {lowest} % full."), N_("Waiting: the battery is low")),
    Kind.GOING_TO_SLEEP: Words(
        N_("The computer is going to sleep."), N_("The computer is going to sleep"), says_all=True
    ),
    Kind.WOKEN: Words(
        N_("The computer has slept: a new session begins with the state of the other peers."),
        N_("Coming back after sleep"),
    ),
    # The network.
    Kind.OFFLINE: Words("{cause}", N_("Waiting: no connection to the internet"), says_all=True),
    Kind.METERED: Words(N_("The network is metered."), N_("Waiting: the network is metered"), says_all=True),
    Kind.DATA_CAP: Words(
        N_("The {cap:size} that you allow over the network in a month are used up."),
        N_("Waiting: the data of this month is used up"),
    ),
    Kind.NETWORK_HOURS: Words(
        N_("Outside the hours in which the network may be used."),
        N_("Waiting: outside the hours in which the network may be used"),
        says_all=True,
    ),
    Kind.NETWORK_TOO_SLOW: Words("{cause}", N_("This project needs more bandwidth than your limits allow")),
    # The graphics card.
    Kind.GPU_TAKEN: Words(
        N_("Another program is using the graphics card: {programs}."),
        N_("Waiting: another program is using the graphics card"),
    ),
    Kind.GPU_HOT: Words(
        N_("The graphics card is too warm even at rest: {temperature} °C."),
        N_("Waiting: the graphics card is too warm"),
    ),
    Kind.GPU_MISSING: Words(N_("The graphics card does not answer. {cause}"), N_("The graphics card does not answer")),
    Kind.GPU_MEMORY: Words(
        N_("The graphics card has too little free memory: {needed:size} are needed, {available:size} may be used."),
        N_("Waiting: too little graphics memory is free"),
    ),
    Kind.GPU_CHANGED: Words(
        N_("From now on another graphics card is used."), N_("Changing to another graphics card"), says_all=True
    ),
    # The session.
    Kind.BACKING_OFF: Words(N_("The last session failed and is tried again soon: {failure}")),
    Kind.GAVE_UP: Words(N_("The session cannot go on without you: {failure}")),
}


def sentence(reason: Reason) -> str:
    """In full, without its end."""
    known = WORDS.get(reason.kind)
    return messages.fill(known.sentence, reason.params) if known else str(reason.kind)


def headline(reason: Reason) -> str:
    """Without its end and without a full stop."""
    known = WORDS.get(reason.kind)
    return translate(known.headline) if known and known.headline else sentence(reason).rstrip(" .")


def detail(reason: Reason) -> str:
    """What the sentence adds to the headline; empty if nothing."""
    known = WORDS.get(reason.kind)
    return sentence(reason) if known and known.headline and not known.says_all else ""

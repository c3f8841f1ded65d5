"""The reasons not to contribute; what the sensors say, and why a source has no answer (a part of a sentence)."""

from typing import NamedTuple

from app.text.i18n import N_
from core.api.reasons import Kind


class Words(NamedTuple):
    """How a reason is worded, in English."""

    brief: str
    """In two or three words, for the history."""
    sentence: str
    headline: str = ""
    """Short enough for the tray, without a full stop; empty: the sentence."""
    says_all: bool = False
    """The sentence adds nothing to the headline."""


REASONS: dict[str, Words] = {
    # The volunteer's choice.
    Kind.PAUSED: Words(N_("paused"), N_("You paused contributing."), N_("Paused"), says_all=True),
    Kind.SNOOZED: Words(
        N_("paused for a while"), N_("You paused contributing for a while."), N_("Paused"), says_all=True
    ),
    Kind.OUTSIDE_SCHEDULE: Words(
        N_("outside your schedule"),
        N_("Outside the hours of your schedule."),
        N_("Waiting: outside the hours of your schedule"),
        says_all=True,
    ),
    Kind.NO_PROJECT: Words(N_("no project"), N_("You have not joined a project yet.")),
    # The computer.
    "no_compute_runtime": Words(
        N_("libraries missing"),
        N_("The libraries that training needs are not installed yet."),
        N_("Waiting: the libraries for training are being installed"),
    ),
    "in_use": Words(
        N_("computer in use"),
        N_("You are using the computer; contributing resumes {wait:duration} after the last input."),
        N_("Waiting: you are using this computer"),
    ),
    "processor_busy": Words(
        N_("processor busy"),
        N_("Other programs use {share:percent} of the processor; contributing waits from {limit:percent} on."),
        N_("The processor is busy: waiting"),
    ),
    "full_screen": Words(N_("full-screen program"), "{what}.", N_("Waiting: a program fills the screen")),
    "program_running": Words(
        N_("program of your list"),
        N_("You asked Idlehive to wait while this runs: {programs}."),
        N_("Waiting: a program of your list is running"),
    ),
    "on_battery": Words(
        N_("on battery"),
        N_("The computer runs on its battery."),
        N_("Waiting: the computer runs on its battery"),
        says_all=True,
    ),
    "battery_low": Words(
        N_("battery low"), N_("The battery is less than {lowest} % full."), N_("Waiting: the battery is low")
    ),
    Kind.GOING_TO_SLEEP: Words(
        N_("going to sleep"), N_("The computer is going to sleep."), N_("The computer is going to sleep"), says_all=True
    ),
    Kind.WOKEN: Words(
        N_("just woken up"),
        N_("The computer has slept: a new session begins with the state of the other peers."),
        N_("Coming back after sleep"),
    ),
    # The network.
    "offline": Words(N_("offline"), "{cause}", N_("Waiting: no connection to the internet"), says_all=True),
    "metered": Words(
        N_("metered network"), N_("The network is metered."), N_("Waiting: the network is metered"), says_all=True
    ),
    "data_cap": Words(
        N_("data cap"),
        N_("The {cap:size} that you allow over the network in a month are used up."),
        N_("Waiting: the data of this month is used up"),
    ),
    "network_hours": Words(
        N_("network hours"),
        N_("Outside the hours in which the network may be used."),
        N_("Waiting: outside the hours in which the network may be used"),
        says_all=True,
    ),
    "network_too_slow": Words(
        N_("too little bandwidth allowed"), "{cause}", N_("This project needs more bandwidth than your limits allow")
    ),
    # The graphics card.
    "gpu_taken": Words(
        N_("graphics card taken"),
        N_("Another program is using the graphics card: {programs}."),
        N_("Waiting: another program is using the graphics card"),
    ),
    "gpu_hot": Words(
        N_("graphics card too warm"),
        N_("The graphics card is too warm even at rest: {temperature} °C."),
        N_("Waiting: the graphics card is too warm"),
    ),
    "gpu_missing": Words(
        N_("graphics card missing"),
        N_("The graphics card does not answer. {cause}"),
        N_("The graphics card does not answer"),
    ),
    "gpu_memory": Words(
        N_("too little graphics memory"),
        N_("The graphics card has too little free memory: {needed:size} are needed, {available:size} may be used."),
        N_("Waiting: too little graphics memory is free"),
    ),
    "gpu_changed": Words(
        N_("another graphics card"),
        N_("From now on another graphics card is used."),
        N_("Changing to another graphics card"),
        says_all=True,
    ),
    # The session.
    Kind.BACKING_OFF: Words(
        N_("waiting after a failure"), N_("The last session failed and is tried again soon: {failure}")
    ),
    Kind.GAVE_UP: Words(N_("stopped by a failure"), N_("The session cannot go on without you: {failure}")),
}
"""By kind."""

SENSORS = (
    N_("presence"), N_("full screen"), N_("network"), N_("power"), N_("processor"), N_("programs"), N_("gpu"),
    N_("sleep"),
)  # fmt: skip
"""The names that `doctor` shows; its JSON keeps the English ones."""

WORDINGS = {
    "source_in_use": N_("in use"),
    "source_not_needed": N_("not needed"),
    "not_asked": N_("not asked yet"),
    "screen": "{what}.",
    "game_running": N_("A game is running"),
    "screen_filled_by": N_("{program} fills the screen"),
    "screen_filled": N_("A program fills the screen"),
    "screen_free": N_("Nothing fills the screen"),
    "screen_unknown": N_("This computer does not report what fills the screen"),
    "gpus": "{gpus}.",
    "gpus_not_usable": N_("{gpus}. The installed PyTorch cannot use it."),
    "gpu_with": "{name} ({facts})",
    "gpu_named": "{name}",
    "gpu_temperature": N_("{celsius} °C"),
    "gpu_power": N_("{watts:count} W"),
    "gpu_busy": N_("{share:percent} busy"),
    "gpu_used_by": N_("used by {programs}"),
    "gpu_missing": N_("No NVIDIA graphics card with a driver: the processor computes."),
    "driver_missing": N_("there is no driver"),
    "driver_fails": N_("The NVIDIA driver says: {detail}."),
    "processor_use": N_("Other programs use {share:percent} of the processor."),
    "processor_measured_soon": N_("What other programs use of the processor is known after some seconds."),
    "processor_unknown": N_("This computer does not report how much of the processor other programs use."),
    "network": "{reach}; {cost}.",
    "network_unknown": N_("It is unknown whether this computer is online and whether its network is metered."),
    "online": N_("Online"),
    "not_online": N_("Offline"),
    "reach_unknown": N_("It is unknown whether this computer is online"),
    "network_metered": N_("the network is metered"),
    "network_not_metered": N_("the network is not metered"),
    "cost_unknown": N_("it is unknown whether the network is metered"),
    "power": "{source}.",
    "power_level": N_("{source}, battery {level:percent} full."),
    "on_battery": N_("On battery"),
    "plugged_in": N_("Plugged in"),
    "battery_missing": N_("There is no battery."),
    "battery_unknown": N_("This computer does not report whether it has a battery."),
    "input_unknown": N_(
        "This computer does not report when mouse and keyboard are used; contributing does not wait for them."
    ),
    "last_input": N_("Mouse or keyboard were last used {ago:duration} ago."),
    "programs_not_named": N_("Your list names no programs to wait for."),
    "programs_running": N_("Waiting for {programs}; running now: {running}."),
    "programs_not_running": N_("Waiting for {programs}; none of them is running."),
    "sleep_announced": N_("The computer announces sleep, and waits until the session has left."),
    "sleep_unannounced": N_(
        "The computer does not announce sleep; the session starts again when the clock shows that it has slept."
    ),
    "session_bus_missing": N_("no session bus"),
    "system_bus_missing": N_("no system bus"),
    "bus_gone": N_("the system bus is gone"),
    "service_silent": N_("{service} does not answer"),
    "service_not_running": N_("not running"),
    "service_refuses": N_("refuses to answer ({detail})"),
    "logind_unavailable": N_("logind is not running or refuses"),
    "window_manager_missing": N_("no window manager reports it"),
    "desktop_is_wayland": N_("the desktop is Wayland"),
    "display_is_xwayland": N_("the display is Xwayland"),
    "idle_not_counted": N_("the server does not count it"),
    "idle_never_set": N_("the desktop never reports it"),
    "session_missing": N_("you have no session at a screen"),
    "input_missing": N_("the session has no input"),
    "program_failed": N_("{program} fails ({detail})"),
    "program_silent": N_("{program} does not report it"),
    "other_system": N_("this is not {system}"),
    "system_silent": N_("this system does not report it"),
    "compositor_silent": N_("the compositor does not answer ({detail})"),
    "compositor_without_idle": N_("the compositor has no ext-idle-notify"),
    "compositor_refuses": N_("the compositor refuses ext-idle-notify"),
    "variable_missing": N_("no {variable}"),
    "display_unreachable": N_("the display cannot be reached ({detail})"),
    "display_silent": N_("the display does not answer ({detail})"),
    "display_elsewhere": N_("DISPLAY {display} is not of this computer"),
    "route_missing": N_("no route to the internet"),
    "power_management_silent": N_("the power management does not answer"),
    "power_management_refuses": N_("the power management refuses"),
}
"""Of the sensors, by kind of message."""

"""Failures, remarks and events of sessions. A cause inside another sentence has no full stop."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {**_events(), **_failures(), **_swarm(), **_machine()}


def _events() -> dict[str, str]:
    return {
        "joined": tr("You joined {name}."),
        "left": tr("You left {name}."),
        "first_contribution": tr("Your first samples are computed."),
        "epoch_done": tr("Epoch {epoch:count} has begun; you gave {samples:count} samples to the one before."),
        "record_waits": tr("{failure} What you give meanwhile is kept in memory."),
        "power_limit_refused": tr(
            "The driver does not accept a power limit; Idlehive keeps {watts:figure} W by resting. {detail}"
        ),
        "loss_restored": tr(
            "The loss diverged at epoch {epoch:count} ({cause}); the session went back to the state of epoch"
            " {restored:count}."
        ),
        "loss_refetched": tr(
            "The loss diverged at epoch {epoch:count} ({cause}); the session fetched the run's state again."
        ),
        "loss_not_finite": tr("it is not a finite number"),
        "loss_too_high": tr("it is {loss:figure}, where {usual:figure} was usual"),
    }


def _failures() -> dict[str, str]:
    return {
        "recorded_text": "{text}",
        "failed_repeatedly": tr(
            "{failure} It failed {times:count} times in a row: the log and `idlehive doctor` say more."
        ),
        "session_ended": tr("The session ended by itself."),
        "no_progress_starting": tr("The session made no progress while it was starting."),
        "no_progress_joining": tr("The session made no progress while it was looking for peers."),
        "no_progress_syncing": tr("The session made no progress while it was catching up."),
        "no_progress_contributing": tr("The session made no progress while it was contributing."),
        "process_not_started": tr("The session's process cannot be started: {detail}."),
        "process_crashed": tr("The session's process crashed ({signal})."),
        "process_killed": tr("The session's process was ended from outside ({signal})."),
        "process_ended": tr("The session's process ended unexpectedly with code {code}."),
        "trainer_failed": tr("The trainer failed ({detail}); its log says more."),
        "dht_ended": tr("The session's table of peers was ended from outside."),
        "gradient_averager_ended": tr("The session's gradient averager was ended from outside."),
        "state_averager_ended": tr("The session's state averager was ended from outside."),
        "daemon_ended": tr("The session's peer-to-peer daemon was ended from outside."),
        "backbone_not_serving": tr("The practice project's backbone ended before it could serve."),
        "backbone_ended": tr("The practice project's backbone ended unexpectedly."),
        "project_ended": tr("The organiser has ended {name}; thank you for helping."),
    }


def _swarm() -> dict[str, str]:
    return {
        "no_internet": tr("There is no connection to the internet."),
        "no_peers": tr("Neither another peer nor the project's backbone can be reached."),
        "upload_too_slow": tr("This project needs at least {needed:rate} up, and your limit is {allowed:rate}."),
        "download_too_slow": tr("This project needs at least {needed:rate} down, and your limit is {allowed:rate}."),
        "no_peer_with_open_port": tr(
            "None of the other peers can be called from here: one of them has to open a port."
        ),
        "state_unavailable": tr("No peer offers the present state of the run."),
        "peers_not_reached": tr(
            "None of the project's peers answers: the organiser's machine or your network may be down."
        ),
        "daemon_not_started": tr("The peer-to-peer daemon did not start. {detail}"),
        "loss_diverged": tr(
            "The loss diverged again and again ({cause}). If this goes on, ask the project's organiser; if other"
            " projects do the same, this computer's memory or graphics card may be faulty."
        ),
    }


def _machine() -> dict[str, str]:
    return {
        "memory_full": tr("This computer has too little free memory for the project."),
        "memory_over_limit": tr(
            "The session holds {held:size} of memory, more than your limit of {allowed:size}. Raise the limit, or"
            " choose a smaller project."
        ),
        "memory_over_half": tr(
            "The session holds {held:size} of memory, more than half of what this computer has ({allowed:size}). Set a"
            " higher memory limit, or choose a smaller project."
        ),
        "gpu_not_usable": tr(
            "PyTorch cannot use the graphics card: its driver may be too old. Update it, or switch the graphics card"
            " off in your limits."
        ),
        "gpu_memory_full": tr(
            "The graphics card has too little memory for this project, or your limit allows too little."
        ),
        "gpu_failed": tr("The graphics card failed: {detail}"),
        "gpu_not_listed": tr("The driver does not list it any more."),
    }

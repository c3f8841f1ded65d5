"""Failures, remarks and events of sessions. A cause inside another sentence has no full stop."""

from app.text.i18n import N_

WORDINGS = {
    "contribution_began": N_("Contributing."),
    "contribution_ended": N_("Contributing has ended."),
    # Events.
    "quitting": N_("Idlehive ends."),
    "joined": N_("You joined {name}."),
    "left": N_("You left {name}."),
    "first_contribution": N_("Your first samples are computed."),
    "epoch_done": N_("Epoch {epoch:count} has begun; you gave {samples:samples} to the one before."),
    "record_waits": N_("{failure} What you give meanwhile is kept in memory."),
    "power_limit_refused": N_(
        "The driver does not accept a power limit; Idlehive keeps {watts:figure} W by resting. {detail}"
    ),
    "loss_restored": N_(
        "The loss diverged at epoch {epoch:count} ({cause}); the session went back to the state of epoch"
        " {restored:count}."
    ),
    "loss_refetched": N_(
        "The loss diverged at epoch {epoch:count} ({cause}); the session fetched the run's state again."
    ),
    "foreign_state": N_("A peer offered a state that is not the run's; it was not used."),
    "loss_not_finite": N_("it is not a finite number"),
    "loss_too_high": N_("it is {loss:loss}, where {usual:loss} was usual"),
    "peer_removed": N_("A peer sent broken data and was removed."),
    "peer_removed_silent": N_("A peer stopped answering again and again and was removed."),
    "peer_dropped": N_("The peer {peer} was removed for {seconds:duration}: {reason}."),
    "values_out_of_range": N_("it sent values that are not finite or far too large"),
    "part_malformed": N_("it sent a part that does not fit"),
    "parts_too_many": N_("it sent more parts than there are"),
    "weight_invalid": N_("it sent a weight that is not possible"),
    "average_wrong": N_("it gave a wrong average"),
    "claim_malformed": N_("what it said about itself cannot be read"),
    "gradient_wrong": N_("what it sent is not what its samples give"),
    "banned_by_organiser": N_("the organiser has banned it"),
    "accused_by_others": N_("others found that what it sent is not what its samples give"),
    "fell_silent": N_("it joined rounds and stopped answering in them"),
    # Failures.
    "recorded_text": "{text}",
    "failed_repeatedly": N_(
        "{failure} It failed {times:count} times in a row: the log and `idlehive doctor` say more."
    ),
    "session_ended": N_("The session ended by itself."),
    "no_progress_starting": N_("The session made no progress while it was starting."),
    "no_progress_joining": N_("The session made no progress while it was looking for peers."),
    "no_progress_syncing": N_("The session made no progress while it was catching up."),
    "no_progress_contributing": N_("The session made no progress while it was contributing."),
    "process_not_started": N_("The session's process cannot be started: {detail}."),
    "process_crashed": N_("The session's process crashed ({signal})."),
    "process_killed": N_("The session's process was ended from outside ({signal})."),
    "process_ended": N_("The session's process ended unexpectedly with code {code}."),
    "trainer_failed": N_("The trainer failed ({detail}); its log says more."),
    "dht_ended": N_("The session's table of peers was ended from outside."),
    "gradient_averager_ended": N_("The session's gradient averager was ended from outside."),
    "state_averager_ended": N_("The session's state averager was ended from outside."),
    "data_process_ended": N_("The session's process that prepares data ended unexpectedly."),
    "daemon_ended": N_("The session's peer-to-peer daemon was ended from outside."),
    "backbone_not_serving": N_("The practice project's backbone ended before it could serve."),
    "backbone_ended": N_("The practice project's backbone ended unexpectedly."),
    "project_ended": N_("The organiser has ended {name}; thank you for helping."),
    # Swarm.
    "no_internet": N_("There is no connection to the internet."),
    "no_peers": N_("Neither another peer nor the project's backbone can be reached."),
    "no_peers_past_proxy": N_(
        "Neither another peer nor the project's backbone can be reached. Their connections pass no proxy: the network"
        " has to let this computer connect to them directly."
    ),
    "upload_too_slow": N_("This project needs at least {needed:rate} up, and your limit is {allowed:rate}."),
    "download_too_slow": N_("This project needs at least {needed:rate} down, and your limit is {allowed:rate}."),
    "no_peer_with_open_port": N_("None of the other peers can be reached from here: one of them has to open a port."),
    "banned_from_run": N_(
        "The organiser has excluded this computer for a while: what it computed was not what its samples give."
        " If that happens again, its memory or its graphics card may be faulty."
    ),
    "port_lost": N_("Others cannot reach this computer any more: a new session finds out how they reach it now."),
    "state_unavailable": N_("No peer offers the present state of the run."),
    "run_too_fast": N_(
        "The project is faster than your line: its state ({size:size}) took {seconds:duration} to arrive, and was"
        " outdated by then, several times in a row. A faster line or a higher download limit helps."
    ),
    "line_too_slow": N_(
        "The others wait for your line: with this computer an update takes {together:duration}, without it"
        " {without:duration}. A faster line or a higher limit helps; a project with a smaller model may fit better."
    ),
    "peers_not_reached": N_(
        "None of the project's peers answers: the organiser's machine or your network may be down."
    ),
    "daemon_not_started": N_("The peer-to-peer daemon did not start. {detail}"),
    "loss_diverged": N_(
        "The loss diverged again and again ({cause}). If this goes on, ask the project's organiser; if other"
        " projects do the same, this computer's memory or graphics card may be faulty."
    ),
    # Machine.
    "memory_full": N_("This computer has too little free memory for the project."),
    "memory_over_limit": N_(
        "The session holds {held:size} of memory, more than your limit of {allowed:size}. Raise the limit, or"
        " choose a smaller project."
    ),
    "memory_over_half": N_(
        "The session holds {held:size} of memory, more than half of what this computer has ({allowed:size}). Set a"
        " higher memory limit, or choose a smaller project."
    ),
    "gpu_not_usable": N_(
        "PyTorch cannot use the graphics card: its driver may be too old. Update it, or switch the graphics card"
        " off in your limits."
    ),
    "gpu_memory_full": N_("The graphics card has too little memory for this project, or your limit allows too little."),
    "gpu_failed": N_("The graphics card failed: {detail}"),
    "gpu_not_listed": N_("The driver does not list it any more."),
}

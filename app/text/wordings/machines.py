"""Other machines over SSH: their list, and the ways in which a connection fails."""

from app.text.i18n import N_

WORDINGS = {
    "machine_name_unclear": N_("“{name}” cannot be a machine's name: up to 40 letters, digits, dots, - and _ can."),
    "machine_name_taken": N_("There is a machine called {name} already."),
    "machine_address_unclear": N_(
        "“{address}” is not the address of a machine: write ssh://HOST, or ssh://USER@HOST:PORT. It has no place for a"
        " password."
    ),
    "machine_unknown": N_("There is no machine called {name}. Known: {known}."),
    "machine_unknown_yet": N_("There is no machine called {name}: `idlehive remote add {name} ssh://HOST` adds one."),
    "machine_not_meant": N_(
        "`idlehive {verb}` is for the computer on which it runs: log in to {host} with ssh and use it there."
    ),
    "machine_has_no_file": N_("{path} is a file of this computer; the engine of {machine} cannot read or write it."),
    "machines_unreadable": N_("The list of machines in {path} cannot be read: {detail}."),
    "ssh_missing": N_("OpenSSH is not installed: the program `ssh` is not found."),
    "machine_host_unknown": N_(
        "The host key of {host} is not known here. Connect once with `ssh {host}`, compare the key, and try again."
    ),
    "machine_host_changed": N_(
        "The host key of {host} has changed: it may be another computer. Nothing was sent. If you know why, run"
        " `ssh-keygen -R {host}`."
    ),
    "machine_key_refused": N_(
        "{host} refuses your SSH key. `ssh {host}` must work without a password: add a key with `ssh-copy-id {host}`,"
        " or unlock yours with `ssh-add`."
    ),
    "machine_not_found": N_("The name {host} is not known to the network."),
    "machine_unreachable": N_("{host} cannot be reached by SSH: {detail}."),
    "machine_silent": N_("{machine} does not answer."),
    "machine_sends_too_much": N_("{machine} sent more than {most:size} at once, which no Idlehive does."),
    "machine_without_idlehive": N_(
        "{host} has no Idlehive: the command {program} is not found there. If it is elsewhere, add its path to the"
        " address."
    ),
    "machine_too_old": N_("The Idlehive of {machine} is too old to be used from here: update it there."),
    "machine_other_version": N_("{machine} has Idlehive {there} and this computer {here}: update the older one."),
    "machine_engine_not_running": N_("No engine is running on {machine}."),
    "machine_engine_unusable": N_("The engine of {machine} cannot be used. {problem}"),
    "machine_engine_ended": N_("The engine of {machine} has ended."),
    "machine_lost": N_("The connection to {machine} is lost."),
}

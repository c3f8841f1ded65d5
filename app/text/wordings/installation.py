"""The installed program: the service, the libraries for training, new versions, removal."""

from app.text.i18n import N_

WORDINGS = {
    "systemd_missing": N_("This system has no systemd, so it has no such service."),
    "systemd_refuses": N_("systemd reports an error: {detail}."),
    "removal_needs_yes": N_("Nothing is deleted without an answer: add --yes."),
    "removal_late": N_("Removing took longer than {seconds:duration} and was stopped. Some of {path} may be left."),
    "runtime_needs_space": N_("The libraries for training need {needed:size} in {path}, and {free:size} are free."),
    "runtime_offline": N_("The libraries for training cannot be downloaded: {host} cannot be reached."),
    "runtime_proxy": N_(
        "The libraries for training cannot be downloaded: the proxy does not let them through from {host}."
    ),
    "runtime_certificate": N_(
        "The libraries for training cannot be downloaded: the certificate of {host} is not trusted on this computer."
    ),
    "runtime_wrong_file": N_("The source of packages sent something other than what was requested: {detail}."),
    "runtime_not_writable": N_("The libraries for training cannot be written to {path}."),
    "runtime_interrupted": N_("The installation of the libraries was interrupted."),
    "runtime_failed": N_("The libraries for training could not be installed: {detail}."),
    "runtime_no_build": N_("There are no libraries for Python {python} on this computer."),
    "runtime_not_needed": N_("A checkout has its own libraries: `python3 -m installer setup` repairs them."),
    "wsl_needs_consent": N_("Idlehive sets up WSL only after you have agreed: `idlehive runtime install` asks you."),
    "wsl_restart": N_("WSL is installed. Restart Windows, then try again: the rest follows."),
    "wsl_not_allowed": N_(
        "Windows did not let Idlehive set up WSL. Try again and agree as an administrator, or run `wsl --install "
        "--no-distribution` in an administrator's terminal."
    ),
    "wsl_no_virtualisation": N_(
        "WSL 2 needs virtualisation, which is switched off on this computer. Switch it on in the firmware (BIOS, UEFI) "
        "and try again."
    ),
    "wsl_no_image": N_("The Linux for WSL is missing from this installation: {path}. Install Idlehive again."),
    "wsl_silent": N_("WSL has not answered for {seconds:duration}. Restart Windows and try again."),
    "wsl_failed": N_("WSL could not be set up: {detail}."),
    "release_none": N_("There is no newer version to install."),
    "release_no_publisher": N_(
        "This copy of Idlehive names no publisher of new versions: get them where you got this one."
    ),
    "release_address_wrong": N_(
        "“{address}” is not an address of a release file: it must begin with https:// or http://."
    ),
    "release_unreadable": N_("What was found at the address of new versions is not a release file."),
    "release_not_signed": N_("The release file is not signed by the publisher of your package; nothing of it is used."),
    "release_expired": N_(
        "The release file has expired: either its publisher has not renewed it, or this computer's clock is wrong."
    ),
    "release_older": N_("The release file is older than one that was seen before; nothing of it is used."),
    "release_format_newer": N_("The release file is written for a newer Idlehive: get it where you got this one."),
    "release_without_package": N_("The new version has no package of this kind."),
    "release_wrong_file": N_("The downloaded package is not the one that its publisher signed; it was deleted."),
    "release_not_usable": N_("The new version does not run on this computer, so this one stays: {detail}."),
    "release_not_written": N_("The new version cannot be written to {path}: {detail}."),
    "release_interrupted": N_("The check for a new version was interrupted."),
}

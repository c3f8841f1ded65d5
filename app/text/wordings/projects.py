"""Projects: the list, membership, what is fetched, and what a computer must have."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "project_unknown": tr("There is no project “{project}” in the list; there are: {known}."),
        "practice_id_reserved": tr("“{project}” is the name of the practice project; another project cannot have it."),
        "project_id_taken": tr("You are in a project “{project}” already, from {source}; leave that one first."),
        "not_a_member": tr("You are not in the project “{project}”."),
        "projects_repeated": tr("Name each project once."),
        "manifest_of_other_project": tr("The manifest of “{project}” now describes another project, “{found}”."),
        "manifest_file_too_large": tr("{path} is larger than {most:size}; this is not a manifest."),
        "source_invalid": tr("“{source}” is neither an address nor the full path of a file."),
        "address_invalid": tr("{address} is not an address that can be fetched."),
        "address_scheme": tr(
            "{address} is not an address that can be fetched; it must begin with https:// or http://."
        ),
        "address_with_password": tr("An address must not hold a user name or a password; give a secret as an invite."),
        "certificate_invalid": tr("The connection to {host} is not secure: its certificate is not valid."),
        "host_silent": tr("{host} does not answer."),
        "host_unreachable": tr("{host} cannot be reached. Check the address and the connection."),
        "redirect_loop": tr("{address} redirects in circles."),
        "nothing_there": tr("There is nothing at {address} ({status}); check the address."),
        "document_refused": tr("The server does not give {address} to everybody ({status})."),
        "server_error": tr("{host} answers with an error ({status}); try again later."),
        "reply_too_large": tr("{address} is larger than {most:size}, which is too large for what was expected there."),
        "file_not_as_described": tr("{address} is not the file that the manifest describes."),
        "picture_too_large": tr("A picture has at most {most} pixels in each direction, not {given}."),
        "picture_format_unknown": tr("The picture is neither a PNG nor a JPEG."),
        "invite_length": tr("An invite has 1 to {most} characters."),
        "invite_lost": tr("The invite of this project is not in the keyring any more; join again with the invite."),
        "invite_in_file": tr(
            "This computer has no usable keyring, so the invite is kept in a file that only your account can read."
        ),
        "invites_unreadable": tr("{path} cannot be read; remove it and join again with the invite."),
        "invite_not_kept": tr("The invite cannot be kept in {path}: {detail}."),
        "needs_memory": tr("It needs {needed:size} of memory; this computer has {present:size}."),
        "needs_gpu": tr("It needs a graphics card with {needed:size} of memory; none was found here."),
        "needs_gpu_memory": tr(
            "It needs a graphics card with {needed:size} of memory; the largest here has {present:size}."
        ),
        "needs_disk": tr("It needs {needed:size} of free disk space; {present:size} are free."),
        "epoch_too_small": tr("The epoch to stop at must be at least 1, not {epoch}."),
        "duration_out_of_range": tr("A duration must be more than 0 and at most a year, not {seconds} seconds."),
    }

"""Projects: the list, membership, what is fetched, and what a computer must have."""

from app.text.i18n import N_

WORDINGS = {
    "not_a_project": N_("This is not an Idlehive project: {source}. An address looks like {example}."),
    "project_unknown": N_("There is no project “{project}” in the list; there are: {known}."),
    "practice_id_reserved": N_("“{project}” is the name of the practice project; another project cannot have it."),
    "project_id_taken": N_("You are in a project “{project}” already, from {source}; leave that one first."),
    "project_joined": N_("You are in the project “{project}”; leave it first."),
    "practice_stays": N_("The practice project comes with Idlehive and stays in the list."),
    "not_a_member": N_("You are not in the project “{project}”."),
    "projects_repeated": N_("Name each project once."),
    "manifest_of_other_project": N_("The manifest of “{project}” now describes another project, “{found}”."),
    "manifest_file_too_large": N_("{path} is larger than {most:size}; this is not a manifest."),
    "source_invalid": N_("“{source}” is neither an address nor the full path of a file."),
    "address_invalid": N_("{address} is not an address that can be fetched."),
    "address_scheme": N_("{address} is not an address that can be fetched; it must begin with https:// or http://."),
    "address_with_password": N_("An address must not hold a user name or a password; give a secret as an invite."),
    "certificate_invalid": N_("The connection to {host} is not secure: its certificate is not valid."),
    "host_silent": N_("{host} does not answer."),
    "host_unreachable": N_("{host} cannot be reached. Check the address and the connection."),
    "proxy_missing": N_("Your limits choose a proxy of your own, but its address is not set."),
    "desktop_proxy_silent": N_(
        "The desktop does not say which proxy it uses, so nothing was requested. Try again, or choose the proxy"
        " in the limits."
    ),
    "proxy_scheme": N_("A proxy of the kind “{scheme}” is not supported: it must be one for HTTP or SOCKS5."),
    "proxy_unreachable": N_("The proxy {proxy} does not answer."),
    "proxy_refuses": N_("The proxy {proxy} refuses: it wants another user name or password."),
    "password_in_file": N_(
        "This computer has no usable keyring, so the password is kept in a file that only your account can read."
    ),
    "redirect_loop": N_("{address} redirects in circles."),
    "nothing_there": N_("There is nothing at {address} ({status}); check the address."),
    "document_refused": N_("The server does not give {address} to everybody ({status})."),
    "server_error": N_("{host} answers with an error ({status}); try again later."),
    "reply_too_large": N_("{address} is larger than {most:size}, which is too large for what was expected there."),
    "file_not_as_described": N_("{address} is not the file that the manifest describes."),
    "bad_redirect": N_("The server sends us on to {target}, which is not a secure web address."),
    "private_address": N_("{host} is inside a private network, but the project is not. Nothing was fetched from it."),
    "redirected_elsewhere": N_("{url} leads to another server: {target}. If you trust it, add that address."),
    "picture_format_unknown": N_("The picture is neither a PNG nor a JPEG."),
    "invite_length": N_("An invite has 1 to {most} characters."),
    "invite_lost": N_("The invite of this project is not in the keyring any more; join again with the invite."),
    "invite_in_file": N_(
        "This computer has no usable keyring, so the invite is kept in a file that only your account can read."
    ),
    "invites_unreadable": N_("{path} cannot be read; remove it and join again with the invite."),
    "invite_not_kept": N_("The invite cannot be kept in {path}: {detail}."),
    "needs_memory": N_("It needs {needed:size} of memory; this computer has {present:size}."),
    "needs_gpu": N_("It needs a graphics card with {needed:size} of memory; none was found here."),
    "needs_gpu_memory": N_(
        "It needs a graphics card with {needed:size} of memory; the largest here has {present:size}."
    ),
    "needs_disk": N_("It needs {needed:size} of free disk space; {present:size} are free."),
    "reason_not_overridable": N_("“{kind}” cannot be overridden."),
    "epoch_too_small": N_("The epoch to stop at must be at least 1, not {epoch}."),
    "duration_out_of_range": N_("A duration must be more than 0 and at most a year, not {seconds} seconds."),
}

"""The engine: reaching it, starting it, asking it."""

from app.text.i18n import N_

WORDINGS = {
    "engine_not_running": N_("The engine is not running."),
    "engine_unreachable": N_("The engine cannot be reached at {path}: {detail}."),
    "engine_other_version": N_("The running engine is of another version: end it with `idlehive quit` and try again."),
    "engine_ended": N_("The engine has ended."),
    "engine_silent": N_("The engine is running but does not answer."),
    "engine_fault": N_("The engine made a mistake; its log says more."),
    "engine_already_running": N_("The engine of {path} is running already (process {process})."),
    "engine_not_started": N_("The engine cannot be started in {path}: {detail}."),
    "engine_start_failed": N_("The engine could not be started: {detail}"),
    "engine_start_late": N_("The engine did not answer within {seconds:duration}; {log} may say why."),
    "engine_start_silent": N_("The engine ended at once (code {code}); {log} may say why."),
    "socket_of_another_user": N_("The engine's socket belongs to another user: {path}."),
    "socket_unusable": N_("The engine cannot listen at {path}: {detail}."),
    "profile_unusable": N_("The profile {path} cannot be used: {detail}."),
    "too_many_front_ends": N_("More than {most} front ends are connected; close one."),
    "request_too_long": N_("A request is longer than {most:size}."),
    "request_unknown": N_("The engine does not know this request: {detail}."),
    "keyring_missing": N_("There is no keyring."),
    "keyring_unusable": N_("The keyring cannot be used ({detail})."),
    "keyring_silent": N_("The keyring does not answer."),
}

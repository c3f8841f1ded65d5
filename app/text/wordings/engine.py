"""The engine: reaching it, starting it, asking it."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "engine_not_running": tr("The engine is not running."),
        "engine_unreachable": tr("The engine cannot be reached at {path}: {detail}."),
        "engine_other_version": tr(
            "The running engine is of another version: end it with `idlehive quit` and try again."
        ),
        "engine_ended": tr("The engine has ended."),
        "engine_silent": tr("The engine is running but does not answer."),
        "engine_fault": tr("The engine made a mistake; its log tells more."),
        "engine_already_running": tr("The engine of {path} is running already (process {process})."),
        "engine_not_started": tr("The engine cannot be started in {path}: {detail}."),
        "engine_start_failed": tr("The engine could not be started: {detail}"),
        "engine_start_late": tr("The engine did not answer within {seconds:duration}; {log} may say why."),
        "engine_start_silent": tr("The engine ended at once (code {code}); {log} may say why."),
        "socket_unusable": tr("The engine cannot listen at {path}: {detail}."),
        "profile_unusable": tr("The profile {path} cannot be used: {detail}."),
        "too_many_front_ends": tr("More than {most} front ends are connected; close one."),
        "request_too_long": tr("A request is longer than {most:size}."),
        "request_unknown": tr("The engine does not know this request: {detail}."),
        "keyring_missing": tr("There is no keyring."),
        "keyring_unusable": tr("The keyring cannot be used ({detail})."),
        "keyring_silent": tr("The keyring does not answer."),
    }

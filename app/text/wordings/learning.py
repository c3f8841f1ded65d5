"""Tasks, models and data: what does not fit in a manifest."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {**_models(), **_data(), **_downloads(), **_checkpoints()}


def _models() -> dict[str, str]:
    return {
        "tokenizer_not_readable": tr("The tokenizer file cannot be read: {detail}."),
        "token_missing": tr("The tokenizer does not have the token {token}."),
        "vocabulary_too_large": tr("The tokenizer has {tokens:count} tokens, more than {most:count}."),
        "model_not_built": tr("{model} cannot be built: {detail}."),
        "model_unknown": tr("{name} is not a known model for this task."),
        "setting_unknown": tr("{model} has no such setting."),
        "config_refused": "{detail}.",
    }


def _data() -> dict[str, str]:
    return {
        "data_without_text": tr("The project's data holds no text."),
        "shard_not_readable": tr("The data shard {path} cannot be read: {detail}."),
        "cache_too_small": tr("The data needs {needed:size} of cache, but your limit allows {allowed:size}."),
        "cache_not_usable": tr("The cache folder {folder} cannot be used: {detail}."),
        "disk_too_full": tr("The disk is full: {needed:size} are needed in {folder}, {free:size} are free."),
        "shard_not_writable": tr("{path} cannot be written: {detail}."),
    }


def _downloads() -> dict[str, str]:
    """The causes follow a colon."""
    return {
        "file_not_fetched": tr("{name} cannot be fetched from {host}: {cause}."),
        "wrong_digest": tr("its content is not what the manifest says (wrong SHA-256); it was deleted"),
        "wrong_size": tr("it has {found:count} bytes there, {expected:count} in the manifest"),
        "larger_than_manifest": tr("it is larger than the {expected:count} bytes of the manifest"),
        "no_space": tr("the disk is full"),
        "not_writable": tr("it cannot be written: {detail}"),
        "access_refused": tr("the server refuses access ({status}); the project may need an invite"),
        "file_not_found": tr("the server does not have it (it answers {status})"),
        "server_busy": tr("the server answers {status}"),
        "resume_refused": tr("the server refuses to continue the download"),
        "wrong_range": tr("the server sends another part than the one requested"),
        "connection_cut": tr("the connection was cut"),
        "connection_not_secure": tr("no secure connection can be made"),
        "url_not_usable": tr("it is not a usable URL"),
        "server_too_slow": tr("the server does not answer in time"),
        "server_stalled": tr("the server stopped sending"),
        "server_not_reached": tr("the server cannot be reached"),
        "too_many_redirects": tr("The server redirects more than {most} times, at last to {url}."),
    }


def _checkpoints() -> dict[str, str]:
    return {
        "checkpoint_not_written": tr("The checkpoint of epoch {epoch:count} cannot be written to {folder}: {detail}."),
        "checkpoint_damaged": tr("The checkpoint {name} is damaged and skipped: {detail}."),
        "checkpoint_altered": tr("The checkpoint {name} is damaged and skipped: its content is not what was written."),
        "copy_of_another_run": tr("The local copy {name} is of another run."),
        "copy_damaged": tr("The local copy is not what was written."),
    }

"""Tasks, models and data: what does not fit in a manifest."""

from app.text.i18n import N_

WORDINGS = {
    # Models.
    "tokenizer_not_readable": N_("The tokenizer file cannot be read: {detail}."),
    "token_missing": N_("The tokenizer does not have the token {token}."),
    "vocabulary_too_large": N_("The tokenizer has {tokens:count} tokens, more than {most:count}."),
    "model_not_built": N_("{model} cannot be built: {detail}."),
    "model_unknown": N_("{name} is not a known model for this task."),
    "setting_unknown": N_("{model} has no such setting."),
    "config_refused": "{detail}.",
    "model_too_large": N_(
        "Training the model needs at least {needed:size} of memory; this computer has {memory:size}."
    ),
    "model_too_many_parts": N_("The model has more than {most:count} parts."),
    "number_too_large": N_("It is larger than {most:count}."),
    # Data.
    "data_without_text": N_("The project's data holds no text."),
    "codes_do_not_fit": N_("No picture of the project's data has {codes:count} codes below {kinds:count}."),
    "data_without_sentences": N_("The texts of the project's data have only one sentence each."),
    "shard_not_readable": N_("The data shard {path} cannot be read: {detail}."),
    "shard_unpacks_too_large": N_("The data shard {path} would become far larger than text does when it is unpacked."),
    "row_group_too_large": N_(
        "A row group of {path} has {rows:count} rows and {size:size} of text; "
        "at most {most_rows:count} rows and {most:size} are allowed. "
        "The file has to be written with smaller row groups."
    ),
    "column_missing": N_("{path} has no column “{column}” of text."),
    "cache_too_small": N_("The data needs {needed:size} of cache, but your limit allows {allowed:size}."),
    "cache_not_usable": N_("The cache folder {folder} cannot be used: {detail}."),
    "disk_too_full": N_("The disk is full: {needed:size} are needed in {folder}, {free:size} are free."),
    "shard_not_writable": N_("{path} cannot be written: {detail}."),
    # Downloads; a cause follows a colon.
    "file_not_fetched": N_("{name} cannot be fetched from {host}: {cause}."),
    "wrong_digest": N_("its content is not what the manifest says (wrong SHA-256); it was deleted"),
    "wrong_size": N_("it has {found:count} bytes there, {expected:count} in the manifest"),
    "larger_than_manifest": N_("it is larger than the {expected:count} bytes of the manifest"),
    "no_space": N_("the disk is full"),
    "not_writable": N_("it cannot be written: {detail}"),
    "access_refused": N_("the server refuses access ({status}); the project may need an invite"),
    "file_not_found": N_("the server does not have it (it answers {status})"),
    "server_busy": N_("the server answers {status}"),
    "resume_refused": N_("the server refuses to continue the download"),
    "wrong_range": N_("the server sends another part than the one requested"),
    "connection_cut": N_("the connection was cut"),
    "connection_not_secure": N_("no secure connection can be made"),
    "url_not_usable": N_("it is not a usable URL"),
    "server_too_slow": N_("the server does not answer in time"),
    "server_stalled": N_("the server stopped sending"),
    "server_not_reached": N_("the server cannot be reached"),
    "too_many_redirects": N_("The server redirects more than {most} times, at last to {url}."),
    # Checkpoints.
    "checkpoint_not_written": N_("The checkpoint of epoch {epoch:count} cannot be written to {folder}: {detail}."),
    "checkpoint_damaged": N_("The checkpoint {name} is damaged and skipped: {detail}."),
    "checkpoint_altered": N_("The checkpoint {name} is damaged and skipped: its content is not what was written."),
    "copy_of_another_run": N_("The local copy {name} is of another run."),
    "copy_damaged": N_("The local copy is not what was written."),
}

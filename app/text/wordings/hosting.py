"""An organiser's backbone: its project file, its folder and its addresses."""

from app.text.i18n import N_

WORDINGS = {
    # What a backbone tells its organiser while it runs.
    "host_resumed": N_("Continued from the checkpoint of epoch {epoch:count}."),
    "host_evaluated": N_("Epoch {epoch:count}: the loss on held-out data is {loss:loss}."),
    "host_banned": N_(
        "Epoch {epoch:count}: {peer} is left out from now on, because its work could not be computed again."
    ),
    "host_goes_back": N_(
        "Epoch {epoch:count}: the loss is far higher than before. The run goes back to the checkpoint of epoch "
        "{to_epoch:count}."
    ),
    "host_state_spoilt": N_(
        "Epoch {epoch:count}: the loss is far higher than before. Nothing of this state is kept, and there is no "
        "checkpoint to go back to."
    ),
    "host_epoch_failed": N_("Epoch {epoch:count}: {problem}"),
    "host_starts_alone": N_("This backbone starts without the other ones. {problem}"),
    "host_validates_nobody": N_("Nobody's work is computed again, because the data are not on this computer."),
    "host_ending": N_("Ending: the last state is evaluated and saved. Press Ctrl-C again to end without it."),
    "companion_ended": N_("The companion ended by itself (code {code}) and starts again in {wait:duration}."),
    "companion_failed": N_("The companion failed. {problem}"),
    "picture_elsewhere": N_("{path} is left out: it is not a file of the folder."),
    "picture_too_large": N_("{path} is left out: it has more than {largest:size}."),
    "backbone_silent": N_("No backbone answers at {address}: --http says where its web server listens."),
    # Why it cannot serve.
    "backbone_part_ended": N_("A part of the backbone has ended; start it again."),
    "state_folder_unusable": N_("The state folder {path} cannot be used: {detail}."),
    "state_folder_in_use": N_("The state folder {path} is in use by another backbone."),
    "run_id_missing": N_("{path} holds no run id; put the run's own back, or remove the file to start a new run."),
    "project_file_wrong": N_("{path}: {problem}"),
    "project_field_wrong": N_("{path}: {field}: {problem}"),
    "file_not_unicode": N_("{path} is not UTF-8 text."),
    "file_not_toml": N_("{path} is not TOML: {detail}."),
    "file_empty": N_("{path} is empty."),
    "path_expected": N_("Expected the path of a file."),
    "pattern_without_match": N_("No file matches “{pattern}”."),
    "pattern_not_relative": N_("The pattern must be relative to the folder of the project file."),
    "shards_not_a_list": N_('Expected a list of files or patterns, like ["train-*.txt"].'),
    "shards_too_many": N_("There are too many for one manifest; join files."),
    "work_not_reproducible": N_("Set it to false: with this task nobody can compute a trainer's samples again."),
    "shard_is_held_out": N_("{path} is the held-out text itself."),
    "initial_peers_given": N_("The backbone adds itself; name other backbones in host.extra_peers."),
    "listen_address_invalid": N_("“{address}” is not HOST:PORT, like 127.0.0.1:8080."),
    "address_in_use": N_("{address} cannot be used: another program listens there. Choose another port."),
    "address_not_listened": N_("The web server cannot listen on {address}: {detail}."),
}

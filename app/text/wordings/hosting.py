"""An organiser's backbone: its project file, its folder and its addresses."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "backbone_part_ended": tr("A part of the backbone has ended; start it again."),
        "state_folder_unusable": tr("The state folder {path} cannot be used: {detail}."),
        "state_folder_in_use": tr("The state folder {path} is in use by another backbone."),
        "run_id_missing": tr("{path} holds no run id; put the run's own back, or remove the file to start a new run."),
        "project_file_wrong": tr("{path}: {problem}"),
        "project_field_wrong": tr("{path}: {field}: {problem}"),
        "file_not_unicode": tr("{path} is not UTF-8 text."),
        "file_not_toml": tr("{path} is not TOML: {detail}."),
        "file_empty": tr("{path} is empty."),
        "path_expected": tr("Expected the path of a file."),
        "pattern_without_match": tr("No file matches “{pattern}”."),
        "pattern_not_relative": tr("The pattern must be relative to the folder of the project file."),
        "shards_not_a_list": tr('Expected a list of files or patterns, like ["train-*.txt"].'),
        "shards_too_many": tr("There are too many for one manifest; join files."),
        "shard_is_held_out": tr("{path} is the held-out text itself."),
        "initial_peers_given": tr("The backbone adds itself; name other backbones in host.extra_peers."),
        "listen_address_invalid": tr("“{address}” is not HOST:PORT, like 127.0.0.1:8080."),
        "address_in_use": tr("{address} cannot be used: another program listens there. Choose another port."),
        "address_not_listened": tr("The web server cannot listen on {address}: {detail}."),
    }

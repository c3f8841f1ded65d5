"""Files, folders, the disk and the record."""

from app.text.i18n import N_

WORDINGS = {
    "disk_full": N_("The disk is full. Free some space for {path}."),
    "manifest_is_folder": N_(
        "{path} is a folder. Name the project's manifest in it (a file such as project.json), or its address (https://…)."
    ),
    "file_missing": N_("There is no file {path}."),
    "file_unreadable": N_("{path} cannot be read: {detail}."),
    "file_not_written": N_("{path} cannot be written: {detail}."),
    "path_not_absolute": N_("“{path}” is not the full path of a file."),
    "reading_takes_long": N_("{source} takes too long to read."),
    "record_damaged": N_("{path} is damaged. Move it away, and Idlehive starts a new record; or restore a copy of it."),
    "record_newer": N_("{path} was written by a newer Idlehive; update Idlehive to open it."),
    "record_io_failed": N_("The disk does not take what is written to {path}; it may be full or failing."),
    "record_read_only": N_("{path} cannot be written; check its permissions and the disk."),
    "record_not_opened": N_("{path} cannot be opened; check the folder, its permissions and the disk."),
    "record_in_use": N_("Another program uses {path}; try again when it has finished."),
    "record_unusable": N_("{path} cannot be used: {detail}."),
    "record_slow": N_("The record takes too long to read; the disk may be failing."),
    "export_waits": N_("{cause} The history is exported once it can be written."),
    "history_too_large": N_("{path} is larger than {most:size}: it is not a history of Idlehive."),
    "not_a_history": N_("{path} is not a history that Idlehive has exported: {detail}."),
    "table_not_a_history": N_("{path} is not a history that Idlehive has exported. Line {line}: {problem}"),
    "table_invalid": N_("{detail}."),
    "table_without_names": N_("It does not begin with the names of its columns."),
    "table_column_unknown": N_("There is no column “{column}”."),
    "table_row_length": N_("It has {given} cells, not {needed}."),
    "table_cell_unexpected": N_("A session has no “{column}”."),
    "table_record_unknown": N_("There is no record “{record}”."),
    "identity_exists": N_(
        "This profile has another identity already; what you gave under it stays with it. Replace it?"
    ),
    "identity_unreadable": N_("The identity in {path} cannot be read: {detail}."),
    "identity_damaged": N_("{path} is damaged; import your identity from an export, or remove it."),
    "identity_not_kept": N_("The identity cannot be kept in {path}: {detail}."),
    "identity_file_unknown": N_("This is not an exported identity that this version of Idlehive knows."),
    "identity_file_damaged": N_("The file is damaged: its key is not the one it names."),
    "passphrase_too_short": N_("A passphrase has at least {least} characters."),
    "passphrase_wrong": N_("The passphrase is wrong, or the file is damaged."),
    "passphrase_takes_long": N_("This computer is too busy to work with the passphrase now."),
}

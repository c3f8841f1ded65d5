"""Files, folders, the disk and the record."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "disk_full": tr("The disk is full. Free some space for {path}."),
        "file_missing": tr("There is no file {path}."),
        "file_unreadable": tr("{path} cannot be read: {detail}."),
        "file_not_written": tr("{path} cannot be written: {detail}."),
        "path_not_absolute": tr("“{path}” is not the full path of a file."),
        "reading_takes_long": tr("{source} takes too long to read."),
        "record_damaged": tr(
            "{path} is damaged. Move it away, and Idlehive starts a new record; or restore a copy of it."
        ),
        "record_newer": tr("{path} was written by a newer Idlehive; update Idlehive to open it."),
        "record_io_failed": tr("The disk does not take what is written to {path}; it may be full or failing."),
        "record_read_only": tr("{path} cannot be written; check its permissions and the disk."),
        "record_not_opened": tr("{path} cannot be opened; check the folder, its permissions and the disk."),
        "record_in_use": tr("Another program uses {path}; try again when it has finished."),
        "record_unusable": tr("{path} cannot be used: {detail}."),
        "record_slow": tr("The record takes too long to read; the disk may be failing."),
        "export_waits": tr("{cause} The history is exported once it can be written."),
        "history_too_large": tr("{path} is larger than {most:size}: it is not a history of Idlehive."),
        "not_a_history": tr("{path} is not a history that Idlehive has exported: {detail}."),
        "table_not_a_history": tr("{path} is not a history that Idlehive has exported. Line {line}: {problem}"),
        "table_invalid": tr("{detail}."),
        "table_without_names": tr("It does not begin with the names of its columns."),
        "table_column_unknown": tr("There is no column “{column}”."),
        "table_row_length": tr("It has {given} cells, not {needed}."),
        "table_cell_unexpected": tr("A session has no “{column}”."),
        "table_record_unknown": tr("There is no record “{record}”."),
        "identity_exists": tr(
            "This profile has another identity already; what you gave under it stays with it. Replace it?"
        ),
        "identity_unreadable": tr("The identity in {path} cannot be read: {detail}."),
        "identity_damaged": tr("{path} is damaged; import your identity from an export, or remove it."),
        "identity_not_kept": tr("The identity cannot be kept in {path}: {detail}."),
        "identity_file_unknown": tr("This is not an exported identity that this version of Idlehive knows."),
        "identity_file_damaged": tr("The file is damaged: its key is not the one it names."),
        "passphrase_too_short": tr("A passphrase has at least {least} characters."),
        "passphrase_wrong": tr("The passphrase is wrong, or the file is damaged."),
        "passphrase_takes_long": tr("This computer is too busy to work with the passphrase now."),
    }

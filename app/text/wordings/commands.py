"""What was typed: on the command line, and into the fields of the window."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "word_misspelt": tr("There is no “{word}”; did you mean “{near}”?"),
        "word_unknown": tr("There is no “{word}”; there are: {known}."),
        "arguments_wrong": tr("{detail} (see `{command} --help`)."),
        "project_not_named": tr(
            "“{text}” is not a project: give an id of `idlehive projects`, a URL or a manifest file."
        ),
        "lines_not_a_number": tr("“{text}” is not a number of lines."),
        "program_not_listed": tr("“{name}” is not in the list."),
        "year_invalid": tr("{year} is not a year of this calendar."),
        "ending_wrong": tr("The name of “{path}” must end in one of these: {endings}."),
        "file_exists": tr("There is a file {path} already; --replace writes over it."),
        "file_not_an_identity": tr("{path} is not an exported identity."),
        "path_not_writable": tr("{path} cannot be written; check the folder and the disk."),
        "passphrase_missing": tr("No passphrase was given."),
        "passphrases_differ": tr("The two are not the same."),
        "invite_missing": tr("No invite was given."),
        "epoch_invalid": tr("“{text}” is not the number of an epoch: write a whole number such as 500."),
        "engine_ended_contributing": tr("The engine has ended; it contributes no more."),
        "window_not_opened": tr("The window cannot be opened: {detail}. `idlehive contribute` works without it."),
        "window_silent": tr("Idlehive is already open for this profile, but its window does not answer."),
        "display_missing": tr("There is no display here for the window; `idlehive contribute` works without one."),
        "duration_invalid": tr("“{text}” is not a duration: write 90m, 2h or 1h30m."),
        "duration_too_long": tr("“{text}” is not between a second and a year."),
        "date_invalid": tr("“{text}” is not a date: write 2026-01-31, today, yesterday or 7d."),
        "rate_ambiguous": tr("“{text}” may mean bits or bytes: write Mbit/s or MB/s."),
    }

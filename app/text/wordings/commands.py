"""What was typed: on the command line, and into the fields of the window."""

from app.text.i18n import N_

WORDINGS = {
    "word_misspelt": N_("There is no “{word}”; did you mean “{near}”?"),
    "word_unknown": N_("There is no “{word}”; there are: {known}."),
    "arguments_wrong": N_("{detail} (see `{command} --help`)."),
    "project_not_named": N_("“{text}” is not a project: give an id of `idlehive projects`, a URL or a manifest file."),
    "lines_not_a_number": N_("“{text}” is not a number of lines."),
    "program_not_listed": N_("“{name}” is not in the list."),
    "year_invalid": N_("{year} is not a year of this calendar."),
    "ending_wrong": N_("The name of “{path}” must end in one of these: {endings}."),
    "file_exists": N_("There is a file {path} already; --replace writes over it."),
    "file_not_an_identity": N_("{path} is not an exported identity."),
    "path_not_writable": N_("{path} cannot be written; check the folder and the disk."),
    "passphrase_missing": N_("No passphrase was given."),
    "passphrases_differ": N_("The two are not the same."),
    "invite_missing": N_("No invite was given."),
    "epoch_invalid": N_("“{text}” is not the number of an epoch: write a whole number such as 500."),
    "engine_ended_contributing": N_("The engine has ended and no longer contributes."),
    "window_not_opened": N_("The window cannot be opened: {detail}. `idlehive contribute` works without it."),
    "window_silent": N_("Idlehive is already open for this profile, but its window does not answer."),
    "display_missing": N_("There is no display here for the window; `idlehive contribute` works without one."),
    "duration_invalid": N_("“{text}” is not a duration: write 90m, 2h or 1h30m."),
    "duration_too_long": N_("“{text}” is not between a second and a year."),
    "date_invalid": N_("“{text}” is not a date: write 2026-01-31, today, yesterday or 7d."),
    "rate_ambiguous": N_("“{text}” may mean bits or bytes: write Mbit/s or MB/s."),
}

"""What the volunteer chooses, and values that cannot be read or are not allowed."""

from app.text.i18n import N_

WORDINGS = {
    # Why another value applies than the one chosen: a part of a sentence.
    "gentle_hours": N_("gentle hours"),
    "gpu_limit_lower": N_("the limit of card {number} is lower"),
    "limit_lower": N_("“{name}” for all hours is lower"),
    # Values that cannot be chosen.
    "preference_not_list": N_("{name} must be a list of names, not {value}."),
    "preference_not_option": N_("{name} must be one of {options}, not {value}."),
    "preference_not_switch": N_("{name} must be on or off, not {value}."),
    "preference_not_week": N_("{name} must be a week of half hours, not {value}."),
    "preference_out_of_range": N_(
        "{name} must be {lowest}, or a whole number from {least} to {highest} ({unit}), not {value}."
    ),
    "preference_too_long": N_("{name} must be a text of at most {longest} characters."),
    "preference_unknown": N_("There is no preference named “{name}”; there are: {known}."),
    "preference_unprintable": N_("{name} must hold only characters that can be seen."),
    "program_name_invalid": N_("“{name}” is not the name of a program, such as steam or blender."),
    "programs_too_many": N_("The list holds at most {most} programs, not {given}."),
    "proxy_address_unclear": N_(
        "“{address}” is not the address of a proxy: write http://HOST:PORT, or socks5://HOST:PORT."
    ),
    "proxy_with_password": N_("Leave the password out of the address, and set {name}."),
    "schedule_empty": N_("The schedule is empty: write a preset, or windows such as “mon-fri 22:00-06:00 gentle”."),
    "schedule_length": N_("A schedule has {needed} half hours, not {given}."),
    "schedule_mark_unknown": N_("“{mark}” is not a mark of a schedule: write . for off, g for gentle, f for full."),
    "schedule_never_changes": N_("Your schedule never changes: pause for a while, or until you resume."),
    "schedule_not_half_hours": N_("“{window}” does not start and end on half hours: write 22:00-06:30."),
    "schedule_unclear": N_(
        "“{part}” in “{window}” is not understood: a schedule is a preset ({presets}), or windows such as "
        "“mon-fri 22:00-06:00 gentle”."
    ),
    "schedule_window_invalid": N_("“{window}” is not a window of a day: write 22:00-06:00."),
    "secret_as_argument": N_(
        "Other programs can see what a command is given: leave the password out, and type it when asked."
    ),
    "value_missing": N_("Write the value of {name} too. Allowed: {allowed}."),
    "value_not_offered": N_("“{text}” is not one of {options}."),
    "value_out_of_range": N_("“{text}” is out of range. Allowed: {allowed}."),
    "value_unclear": N_("“{text}” cannot be read. Write for example {example}."),
}

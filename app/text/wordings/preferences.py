"""What the volunteer chooses, and values that cannot be read or are not allowed."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "preference_not_list": tr("{name} must be a list of names, not {value}."),
        "preference_not_option": tr("{name} must be one of {options}, not {value}."),
        "preference_not_switch": tr("{name} must be on or off, not {value}."),
        "preference_not_week": tr("{name} must be a week of half hours, not {value}."),
        "preference_out_of_range": tr(
            "{name} must be {lowest}, or a whole number from {least} to {highest} ({unit}), not {value}."
        ),
        "preference_too_long": tr("{name} must be a text of at most {longest} characters."),
        "preference_unknown": tr("There is no preference named “{name}”; there are: {known}."),
        "preference_unprintable": tr("{name} must hold only characters that can be seen."),
        "program_name_invalid": tr("“{name}” is not the name of a program, such as steam or blender."),
        "programs_too_many": tr("The list holds at most {most} programs, not {given}."),
        "schedule_empty": tr("The schedule is empty: write a preset, or windows such as “{example}”."),
        "schedule_length": tr("A schedule has {needed} half hours, not {given}."),
        "schedule_mark_unknown": tr("“{mark}” is not a mark of a schedule: write . for off, g for gentle, f for full."),
        "schedule_never_changes": tr("Your schedule never changes: pause for a while, or until you resume."),
        "schedule_not_half_hours": tr("“{window}” does not start and end on half hours: write 22:00-06:30."),
        "schedule_unclear": tr(
            "“{part}” in “{window}” is not understood: a schedule is a preset ({presets}), or windows such "
            "as “{example}”."
        ),
        "schedule_window_invalid": tr("“{window}” is not a window of a day: write 22:00-06:00."),
        "value_not_offered": tr("“{text}” is not one of {options}."),
        "value_out_of_range": tr("“{text}” is out of range. Allowed: {allowed}."),
        "value_unclear": tr("“{text}” cannot be read. Write for example {example}."),
    }

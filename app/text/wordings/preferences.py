"""What the volunteer chooses: limits, schedule, programs and the display name."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "limit_unknown": tr("There is no limit named “{name}”; there are: {known}."),
        "preference_out_of_range": tr(
            "{name} must be a whole number from {lowest} to {highest} ({unit}), not {value}."
        ),
        "preference_too_small": tr(
            "{name} must be 0 or a whole number from {least} to {highest} ({unit}), not {value}."
        ),
        "programs_too_many": tr("The list holds at most {most} programs, not {given}."),
        "program_name_invalid": tr("“{name}” is not the name of a program, such as steam or blender."),
        "schedule_mark_unknown": tr("“{mark}” is not a mark of a schedule: write . for off, g for gentle, f for full."),
        "schedule_length": tr("A schedule has {needed} half hours, not {given}."),
        "schedule_empty": tr("The schedule is empty: write a preset, or windows such as “{example}”."),
        "schedule_window_invalid": tr("“{window}” is not a window of a day: write 22:00-06:00."),
        "schedule_not_half_hours": tr("“{window}” does not start and end on half hours: write 22:00-06:30."),
        "schedule_unclear": tr(
            "“{part}” in “{window}” is not understood: a schedule is a preset ({presets}), or windows such "
            "as “{example}”."
        ),
        "schedule_preset_or_cells": tr("A schedule is either a preset or cells."),
        "schedule_never_changes": tr("Your schedule never changes: pause for a while, or until you resume."),
        "display_name_length": tr("A display name has 1 to {most} characters."),
        "display_name_unprintable": tr("A display name holds only characters that can be seen."),
    }

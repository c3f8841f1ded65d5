"""A project's model that cannot be built here."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "model_too_large": tr(
            "Training the model needs at least {needed:size} of memory; this computer has {memory:size}."
        ),
        "model_too_many_parts": tr("The model has more than {most:count} parts."),
        "number_too_large": tr("It is larger than {most:count}."),
    }

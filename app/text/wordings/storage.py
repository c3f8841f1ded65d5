"""Files, folders, the disk and the record."""

from app.text.i18n import tr


def wordings() -> dict[str, str]:
    """By kind."""
    return {
        "disk_full": tr("The disk is full. Free some space for {path}."),
    }

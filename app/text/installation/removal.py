"""What was removed, in words."""

from app.text.i18n import tr
from app.text.preferences import words
from core.api.installation.removal import Removed
from core.api.preferences.preferences import PREFERENCES


def describe(removed: Removed) -> str:
    """One line for each thing that was deleted, or could not be."""
    lines = [tr("Deleted {path}", path=path) for path in removed.paths]
    lines += [tr("Deleted from the keyring: {secret}", secret=_secret(name)) for name in removed.secrets]
    lines += [tr("{path} could not be deleted.", path=path) for path in removed.kept]
    return "\n".join(lines or [tr("There was nothing to delete.")])


def _secret(name: str) -> str:
    return words(name).name if name in PREFERENCES else tr("invite of {project}", project=name)

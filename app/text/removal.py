"""What was removed, in words."""

from app.text.i18n import tr
from core.api.removal import Removed


def describe(removed: Removed) -> str:
    """One line for each thing that was deleted, or could not be."""
    lines = [tr("Deleted {path}", path=path) for path in removed.paths]
    lines += [tr("Deleted the invite of {project} from the keyring", project=project) for project in removed.secrets]
    lines += [tr("{path} could not be deleted.", path=path) for path in removed.kept]
    return "\n".join(lines or [tr("There was nothing to delete.")])

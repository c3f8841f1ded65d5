"""PROJECT on the command line: an id of the list, a URL, or a manifest file."""

import re
from pathlib import Path

from core.api.errors import UsageError
from core.client.profile import Profile


def resolve(project: str, profile: Profile) -> str:
    """The form for the engine: a file's path becomes absolute, because the engine runs in another folder.

    Raises:
        UsageError: neither an id, nor a URL, nor a file that exists where the engine is.
    """
    if re.match(r"[a-z][a-z0-9+.-]*://", project, re.IGNORECASE):
        return project
    path = Path(project).expanduser()
    if path.is_file():
        refuse_elsewhere(profile, path)
        return str(path.resolve())
    is_id = re.fullmatch(r"[a-z0-9][a-z0-9-]{0,63}", project)
    if project and path.is_dir() and not is_id:
        raise UsageError("manifest_is_folder", path=project)
    if "/" in project or project.endswith(".json"):
        raise UsageError("file_missing", path=project)
    if not is_id:
        raise UsageError("project_not_named", text=project)
    return project


def refuse_elsewhere(profile: Profile, path: Path) -> None:
    """Raises UsageError: the engine is that of another machine, which does not have this computer's files."""
    if profile.machine is not None:
        raise UsageError("machine_has_no_file", path=str(path), machine=profile.machine.name)

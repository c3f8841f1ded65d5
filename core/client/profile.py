"""The profile folder, with everything that a profile stores.

`IDLEHIVE_HOME` names it; else `platformdirs` does. Several profiles can run side by side.
"""

import os
import sys
from pathlib import Path

import platformdirs

from core.api.machines import Machine

# A Unix socket's path holds 108 bytes on Linux and 104 on macOS; of these a session's folder and hivemind need 52.
_LONGEST_RUNTIME_PATH = 50


class Profile:
    """Paths of one profile. `prepare` creates the folders."""

    def __init__(self, path: Path, machine: Machine | None = None) -> None:
        self.path = path
        self.machine = machine
        """The other machine whose engine is meant in place of this profile's; None: its own."""
        self.database = path / "idlehive.sqlite"
        self.cache = path / "cache"
        """Verified data shards of all projects, limited by the disk cap."""
        self.copies = path / "copies"
        """Local copies of the runs' states, so that the next session need not fetch them."""
        self.practice = path / "practice"
        """State of the embedded backbone of the practice project."""
        self.compute = path / "compute"
        """The compute runtime of a package: the libraries of a session, installed here."""
        self.logs = path / "logs"
        self.identity = path / "identity.key"
        """This machine's private key as a peer."""
        self.volunteer = path / "volunteer.key"
        """The volunteer's private key, the same on all their machines."""
        self.lock = path / "engine.lock"
        """The lock that the profile's engine holds while it runs."""
        self.runtime = _runtime(path)
        """Sockets and session folders; the path is short enough for a Unix socket."""
        self.socket = self.runtime / "engine.sock"

    def at(self, machine: Machine) -> "Profile":
        """This profile, with the engine of another machine."""
        return Profile(self.path, machine)

    @classmethod
    def from_environment(cls) -> "Profile":
        """The profile of this process: `IDLEHIVE_HOME`, or the platform's data folder."""
        named = os.environ.get("IDLEHIVE_HOME")
        return cls(Path(named).expanduser().resolve() if named else Path(platformdirs.user_data_dir("idlehive", False)))

    def prepare(self) -> None:
        """Create the folders, readable only by their owner.

        Raises:
            OSError: a folder cannot be created.
        """
        for folder in (self.path, self.cache, self.copies, self.logs, self.runtime):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def _runtime(path: Path) -> Path:
    inside = path / "run"
    if sys.platform == "win32" or len(os.fsencode(inside)) <= _LONGEST_RUNTIME_PATH:
        return inside
    import hashlib
    import tempfile

    digest = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"idlehive-{os.getuid()}-{digest}"

"""The profile folder, with everything that a profile stores.

`IDLEHIVE_HOME` names it; else `platformdirs` does. Several profiles can run side by side.
"""

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

# A Unix socket's path holds 108 bytes on Linux and 104 on macOS; of these a session's folder and hivemind need 52.
_LONGEST_RUNTIME_PATH = 50


@dataclass(frozen=True)
class Profile:
    """Paths of one profile. `prepare` creates the folders."""

    path: Path

    @classmethod
    def from_environment(cls) -> "Profile":
        """The profile of this process: `IDLEHIVE_HOME`, or the platform's data folder."""
        named = os.environ.get("IDLEHIVE_HOME")
        return cls(Path(named).expanduser().resolve() if named else Path(platformdirs.user_data_dir("idlehive", False)))

    @property
    def database(self) -> Path:
        return self.path / "idlehive.sqlite"

    @property
    def cache(self) -> Path:
        """Verified data shards of all projects, limited by the disk cap."""
        return self.path / "cache"

    @property
    def copies(self) -> Path:
        """Local copies of the runs' states, so that the next session need not fetch them."""
        return self.path / "copies"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def identity(self) -> Path:
        """This machine's private key as a peer."""
        return self.path / "identity.key"

    @property
    def volunteer(self) -> Path:
        """The volunteer's private key, the same on all their machines."""
        return self.path / "volunteer.key"

    @property
    def practice(self) -> Path:
        """State of the embedded backbone of the practice project."""
        return self.path / "practice"

    @property
    def runtime(self) -> Path:
        """Sockets and session folders; the path is short enough for a Unix socket."""
        inside = self.path / "run"
        if len(os.fsencode(inside)) <= _LONGEST_RUNTIME_PATH:
            return inside
        digest = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"idlehive-{os.getuid()}-{digest}"

    @property
    def socket(self) -> Path:
        return self.runtime / "engine.sock"

    @property
    def lock(self) -> Path:
        """The lock that the profile's engine holds while it runs."""
        return self.path / "engine.lock"

    def prepare(self) -> None:
        """Create the folders, readable only by their owner.

        Raises:
            OSError: a folder cannot be created.
        """
        for folder in (self.path, self.cache, self.copies, self.logs, self.runtime):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

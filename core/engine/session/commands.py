"""Command lines of trainer and embedded backbone. Tests replace them by scripted ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.client.installation import compute_command
from core.client.profile import Profile


@dataclass(frozen=True)
class Programs:
    """Command lines."""

    trainer: Sequence[str]
    host: Sequence[str]

    @classmethod
    def of(cls, profile: Profile) -> "Programs":
        """Those of this installation."""
        return cls(compute_command(profile, "core.trainer"), compute_command(profile, "core.host"))

    def host_for(self, project: Path, state: Path) -> list[str]:
        """The backbone of the practice project, with a companion as a second peer."""
        options = ("--embedded", "--companion", "--http", "127.0.0.1:0", "--state", str(state))
        return [*self.host, str(project), *options]

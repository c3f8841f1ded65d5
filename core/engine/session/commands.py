"""What the engine runs: the trainer and the embedded backbone. Tests put scripted ones in their place."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Programs:
    """Command lines."""

    trainer: Sequence[str]
    host: Sequence[str]

    def host_for(self, project: Path, state: Path) -> list[str]:
        """The backbone of a project that only this computer takes part in, with one more peer to work with."""
        options = ("--embedded", "--companion", "--http", "127.0.0.1:0", "--state", str(state))
        return [*self.host, str(project), *options]

"""Command lines of trainer and embedded backbone. Tests replace them by scripted ones."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.client.profile import Profile
from core.engine.session.place import Here, InWsl


@dataclass(frozen=True)
class Programs:
    """Command lines."""

    trainer: Sequence[str]
    host: Sequence[str]
    place: Here = field(default_factory=Here)
    preloaded: Here | None = None
    """Where both run for the practice project, if that is elsewhere."""

    @property
    def practice(self) -> Here:
        return self.preloaded or self.place

    @classmethod
    def of(cls, profile: Profile) -> "Programs":
        """Those of this installation."""
        place = InWsl() if sys.platform == "win32" else Here()
        preloaded = None
        if sys.platform == "linux":
            from core.engine.session.preloaded import Preloaded

            preloaded = Preloaded(place.command(profile, "core.system.forking.server"), profile.runtime)
        return cls(place.command(profile, "core.trainer"), place.command(profile, "core.host"), place, preloaded)

    def host_for(self, project: Path, state: Path) -> list[str]:
        """The backbone of the practice project, with a companion as a second peer."""
        options = ("--embedded", "--companion", "--http", "127.0.0.1:0", "--state", self.place.own(state))
        return [*self.host, self.place.shared(project), *options]

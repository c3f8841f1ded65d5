"""States, inputs and effects of the lifecycle: frozen values.

A session exists in every state from Starting to Leaving, and none in Idle and Failed. Only `Ended` leads to those two,
so that there are never two sessions.
"""

from dataclasses import dataclass

from core.api.message import Message
from core.api.reasons import Reason
from core.api.session import Fault, Hold, Leave, Report, Resume
from core.api.snapshot import Transfer
from core.engine.decision.facts import Failure


@dataclass(frozen=True)
class Idle:
    reasons: tuple[Reason, ...] = ()
    failures: int = 0
    """Failures in a row; they lengthen the next wait."""


@dataclass(frozen=True)
class _Stage:
    """A session without progress until `deadline` (UTC seconds) counts as hanging."""

    project: str
    deadline: float
    failures: int = 0
    transfer: Transfer | None = None


class Starting(_Stage):
    """The trainer loads its libraries and fetches data."""


class Joining(_Stage):
    """It looks for the run's peers."""


class Syncing(_Stage):
    """It fetches the run's state."""


@dataclass(frozen=True)
class Contributing(_Stage):
    since: float = 0.0


@dataclass(frozen=True)
class Holding:
    project: str
    reasons: tuple[Reason, ...]
    since: float
    obeyed: bool = False
    failures: int = 0


@dataclass(frozen=True)
class Leaving:
    project: str
    reasons: tuple[Reason, ...]
    deadline: float
    failures: int = 0
    failure: Failure | None = None
    """Set if the session leaves because it failed."""


@dataclass(frozen=True)
class Failed:
    project: str
    failure: Failure

    @property
    def failures(self) -> int:
        return self.failure.failures


Working = Starting | Joining | Syncing | Contributing
State = Idle | Working | Holding | Leaving | Failed


@dataclass(frozen=True)
class Ended:
    """The session and all its processes have ended. `error` is None if it left in order."""

    error: Message | None = None


Input = Report | Fault | Ended


@dataclass(frozen=True)
class StartSession:
    project: str


@dataclass(frozen=True)
class KillGroup:
    pass


Effect = StartSession | Hold | Resume | Leave | KillGroup
"""Commands go to the trainer."""
Step = tuple[State, tuple[Effect, ...]]

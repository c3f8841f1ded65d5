"""The facts that rules read: frozen values."""

from dataclasses import dataclass, field

from core.api.message import Message
from core.api.preferences.preferences import DEFAULTS, Values
from core.api.preferences.schedule import ALWAYS, Outlook
from core.conditions.gpu import GpuState
from core.conditions.machine import Readings
from core.engine.decision.intent import Intent
from core.system.backoff import LONGEST_WAIT


@dataclass(frozen=True)
class Failure:
    """Why the last session failed. `failures` counts those in a row, this one included."""

    error: Message
    permanent: bool
    failures: int
    retry_at: float

    def is_over(self, now: float) -> bool:
        # Longer than the longest wait: the clock was set back.
        return not self.permanent and not now < self.retry_at <= now + LONGEST_WAIT


@dataclass(frozen=True)
class NetworkUse:
    """The network's month and hours at a moment."""

    used: int = 0
    """Bytes up and down since the data month began."""
    month_ends: float | None = None
    open: bool = True
    """The network may be used at this hour."""
    next_edge: float | None = None
    """When that changes; None: never."""


@dataclass(frozen=True)
class Conditions:
    """The state of machine and session, apart from what the volunteer wants."""

    failure: Failure | None = None
    session_gpu: str | None = None
    """UUID of the GPU that the session uses, empty for the processor, None without a session."""
    machine: Readings = field(default_factory=Readings)
    network: NetworkUse = field(default_factory=NetworkUse)
    near_sleep: bool = False
    """The computer is about to sleep."""
    slept: bool = False
    """It has slept since the session began, so the session and its peers have outdated information about each other."""
    compute_ready: bool = True
    """The libraries that a session needs are installed."""


@dataclass(frozen=True)
class Membership:
    """A project that the volunteer has joined."""

    project: str
    gpu_memory: int = 0
    """Bytes of GPU memory that it needs."""
    needs_internet: bool = True
    min_bandwidth: int = 0
    """Bytes per second, in each direction, below which its averaging rounds cannot end in time; 0 until known."""
    has_own_backbone: bool = False
    """All other peers are processes of this program: ceilings, hours and data cap do not apply to it."""


@dataclass(frozen=True)
class Facts:
    """Everything that rules read."""

    intent: Intent
    conditions: Conditions
    membership: Membership | None
    now: float
    effective: Values = field(default_factory=lambda: DEFAULTS)
    """Effective values of preferences, by plain name."""
    week: Outlook = ALWAYS
    gpu: GpuState | None = None
    """The GPU that a session would compute on; None: the processor."""

    @property
    def uses_gpu(self) -> bool:
        """The session computes on a GPU, or would."""
        in_use = self.conditions.session_gpu
        return self.gpu is not None if in_use is None else bool(in_use)

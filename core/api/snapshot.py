"""The present state as front ends see it: one frozen value, sent whole whenever it changes.

Units: bytes, bytes per second, seconds, UTC seconds since 1970, samples.
"""

from typing import Literal

import msgspec

from core.api.installation.compute_runtime import ComputeRuntime
from core.api.installation.release import ReleaseStatus
from core.api.message import Message
from core.api.preferences.schedule import ScheduleState
from core.api.reasons import Reason
from core.api.session_settings import SessionSettings

State = Literal["idle", "starting", "joining", "syncing", "contributing", "holding", "leaving", "failed"]
Phase = Literal["accumulating", "finding_group", "averaging", "updating"]

Reachability = Literal["open_port", "router", "ipv6", "blocked", "second_router", "no_mapping", "outgoing"]
"""How other peers call this one: on its own address, through a port of the router, by IPv6. Or why they do not: calls
do not arrive, nor at the port that a router behind another one maps, the router maps no port, no port is open for them.
The latter four only call others."""


class Progress(msgspec.Struct, frozen=True):
    """Progress of the run, seen from this peer."""

    epoch: int = 0
    samples: int = 0
    """Samples this volunteer has computed in this session."""
    loss: float | None = None
    """This peer's mean training loss over the last finished epoch; before the first, over the present one."""
    peers: int = 0
    """Peers that report progress in this run, this one included."""
    samples_per_second: float = 0.0
    """Of this peer, smoothed."""
    swarm_samples_per_second: float = 0.0
    """Of all peers together."""
    epoch_samples: int = 0
    """Accumulated by all peers towards the next update."""
    own_epoch_samples: int = 0
    target_batch_size: int = 0
    phase: Phase = "accumulating"


class Traffic(msgspec.Struct, frozen=True):
    """Bytes of this session and their present rate."""

    uploaded: int = 0
    downloaded: int = 0
    upload_rate: float = 0.0
    download_rate: float = 0.0


class Session(msgspec.Struct, frozen=True):
    """A trainer process."""

    pid: int
    started_at: float


class Silence(msgspec.Struct, frozen=True):
    """A session without news: `progress`, `traffic` and `processor` are of then."""

    since: float
    """Its last report."""
    kind: Literal["no_report"] = "no_report"


class Transfer(msgspec.Struct, frozen=True):
    """A download that must end before contributing starts, in bytes; total 0: unknown."""

    done: int
    total: int


class CatchUp(msgspec.Struct, frozen=True):
    """A session that fetches the run's present state; `Transfer` has its progress."""

    from_epoch: int
    """Epoch of the local copy; 0 without one."""
    to_epoch: int
    """Epoch of the run as its peers report it."""


class Today(msgspec.Struct, frozen=True):
    """Contributed since local midnight."""

    samples: int = 0
    seconds: float = 0.0
    epochs: int = 0


class Surroundings(msgspec.Struct, frozen=True):
    """What the machine is doing, as far as rules depend on it. None: not known."""

    last_input: float | None = None
    """When mouse or keyboard were last used, UTC seconds, rounded to ten."""
    processor: int | None = None
    """Percent of the processor that other programs use, without a break for seconds."""
    on_battery: bool | None = None
    """None also without a battery."""
    battery_level: int | None = None
    """Percent."""
    online: bool | None = None
    metered: bool | None = None


class GpuUse(msgspec.Struct, frozen=True):
    """Use by all programs of the GPU that a session computes on. None: not known."""

    name: str
    utilization: int | None = None
    """Percent of the time."""
    temperature: int | None = None
    """Degrees Celsius."""
    power: int | None = None
    """Watts."""
    memory_used: int = 0
    memory_total: int = 0


class ProcessorUse(msgspec.Struct, frozen=True):
    """What the present session uses of the computer."""

    share: int
    """Percent of its allowed threads' time, over the last seconds."""
    memory: int = 0
    """Bytes; 0: not read yet."""
    memory_at: float = 0.0
    """When it was read: that is too expensive to be done all the time."""


class DataMonth(msgspec.Struct, frozen=True):
    """The data cap of a month and how much of it is used; bytes up and down."""

    used: int
    cap: int


class Place(msgspec.Struct, frozen=True):
    """The volunteer's rank on the project's leaderboard, as its backbone reports it."""

    place: int
    volunteers: int
    samples: int
    """Accepted by the backbone, from all machines of the volunteer."""
    share: float
    """Of all volunteers' samples, 0 to 1."""
    at: float


class Snapshot(msgspec.Struct, frozen=True, tag=True):
    """Everything that a front end shows without a command."""

    state: State
    reasons: tuple[Reason, ...] = ()
    project: str | None = None
    """Id of the running project, else of the next to run."""
    project_name: str | None = None
    pinned: str | None = None
    """The project that the volunteer chose; None: the first in order that can run."""
    wanted: bool = False
    """The volunteer wants to contribute when no reason prevents it."""
    borrowed: bool = False
    """A command has borrowed the engine and has not given it back."""
    borrowings: tuple[int, ...] = ()
    """The number of each that has; the first applies."""
    goals: tuple[int, ...] = ()
    """The numbers of what has ended by its time or epoch, of the latest."""
    goals_reached: int = 0
    """How often what was borrowed has ended by its time or epoch."""
    progress: Progress = Progress()
    """Without a session: where the last one saw the run of `project`."""
    traffic: Traffic = Traffic()
    settings: SessionSettings = SessionSettings()
    schedule: ScheduleState = ScheduleState()
    anyway: tuple[str, ...] = ()
    """Kinds of reasons that do not count until `schedule.override_until`: the volunteer contributes anyway."""
    surroundings: Surroundings = Surroundings()
    gpu: GpuUse | None = None
    """None: no session, or it uses the processor."""
    processor: ProcessorUse | None = None
    """None: no session, or it began just now."""
    data_month: DataMonth | None = None
    """None: no data cap is set."""
    session: Session | None = None
    silence: Silence | None = None
    """Set while the session's last report is older than its reports ever are."""
    reachability: Reachability | None = None
    """Of the session; None: not known, or it stays on this computer."""
    transfer: Transfer | None = None
    """Set while data (starting) or state (syncing) is being fetched."""
    catching_up: CatchUp | None = None
    """Set while syncing, once the others' epoch is known."""
    error: Message | None = None
    """Why the last session failed; kept while state is failed."""
    retry_at: float | None = None
    today: Today = Today()
    place: Place | None = None
    """In `project`; None: not known, or nothing is published."""
    compute: ComputeRuntime = ComputeRuntime(ready=True)
    """The libraries that training needs; always ready in a checkout."""
    release: ReleaseStatus = ReleaseStatus()
    changes: int = 0
    """Grows whenever preferences, the list of projects or its order have changed: what was fetched of them is old."""
    engine_pid: int = 0
    version: str = ""

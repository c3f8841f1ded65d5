"""What is going on right now, as front ends see it: one frozen value, sent whole whenever it changes.

Units everywhere: bytes, bytes per second, seconds, UTC seconds since 1970, samples.
"""

from typing import Literal

import msgspec

from core.api.message import Message
from core.api.preferences.schedule import ScheduleState
from core.api.reasons import Reason
from core.api.session_settings import SessionSettings

State = Literal["idle", "starting", "joining", "syncing", "contributing", "holding", "leaving", "failed"]
Phase = Literal["accumulating", "finding_group", "averaging", "updating"]


class Progress(msgspec.Struct, frozen=True):
    """How the run stands, seen from this peer."""

    epoch: int = 0
    samples: int = 0
    """Samples this volunteer has computed in this session."""
    loss: float | None = None
    """Mean training loss of this peer over the last finished epoch, or the running one before the first."""
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
    """One life of a trainer process."""

    pid: int
    started_at: float


class Transfer(msgspec.Struct, frozen=True):
    """A download that stands between the volunteer and contributing; total 0 when unknown."""

    done: int
    total: int


class CatchUp(msgspec.Struct, frozen=True):
    """A session that takes the run's present state over; how far it is stands in `Transfer`."""

    from_epoch: int
    """Of the state it has: that of the local copy, 0 without one."""
    to_epoch: int
    """Of the run as its peers report it."""


class Today(msgspec.Struct, frozen=True):
    """Given since local midnight."""

    samples: int = 0
    seconds: float = 0.0
    epochs: int = 0


class Surroundings(msgspec.Struct, frozen=True):
    """What the machine is doing, as far as limits depend on it. None: this computer does not tell."""

    last_input: float | None = None
    """When mouse or keyboard were last used, UTC seconds, on a grid of ten."""
    on_battery: bool | None = None
    """None also where there is no battery."""
    battery_level: int | None = None
    """Percent."""
    online: bool | None = None
    metered: bool | None = None


class GpuUse(msgspec.Struct, frozen=True):
    """The graphics card that a session computes on, by all programs together. None: it does not tell."""

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
    """What the session at hand takes of the computer."""

    share: int
    """Percent of the time of the threads that it may use, over the last seconds."""
    memory: int = 0
    """Bytes; 0: not looked at yet."""


class DataMonth(msgspec.Struct, frozen=True):
    """What the volunteer's line may carry in a month, and has carried; bytes up and down."""

    used: int
    cap: int


class Place(msgspec.Struct, frozen=True):
    """Where the volunteer stands among all who publish what they give, as the project's backbone counts."""

    place: int
    volunteers: int
    samples: int
    """Accepted by the backbone, from all machines of the volunteer."""
    share: float
    """Of the samples of all, from 0 to 1."""
    at: float


class Snapshot(msgspec.Struct, frozen=True, tag=True):
    """Everything a front end shows without asking."""

    state: State
    reasons: tuple[Reason, ...] = ()
    project: str | None = None
    """Id of the project at hand: the running one, or the next to run."""
    project_name: str | None = None
    pinned: str | None = None
    """The project that the volunteer asked for by name; None: the first in order that can run."""
    wanted: bool = False
    """The volunteer's intent: contribute when nothing stands against it."""
    progress: Progress = Progress()
    traffic: Traffic = Traffic()
    settings: SessionSettings = SessionSettings()
    schedule: ScheduleState = ScheduleState()
    surroundings: Surroundings = Surroundings()
    gpu: GpuUse | None = None
    """None: there is no session, or it uses the processor."""
    processor: ProcessorUse | None = None
    """None: there is no session, or it began just now."""
    data_month: DataMonth | None = None
    """None: no data cap is set."""
    session: Session | None = None
    transfer: Transfer | None = None
    """Set while data (starting) or state (syncing) is being fetched."""
    catching_up: CatchUp | None = None
    """Set while syncing, once it is known which epoch the others are at."""
    error: Message | None = None
    """Why the last session failed; kept while state is failed."""
    retry_at: float | None = None
    today: Today = Today()
    place: Place | None = None
    """In the project at hand; None: not known, or nothing is published."""
    engine_pid: int = 0
    version: str = ""

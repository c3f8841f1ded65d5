"""The wire between front ends and the engine: one JSON object a line on the profile's socket.

A front end sends `Request`s and gets one `Reply` or `Refusal` with the same id to each. After `Subscribe` it also gets
a `Snapshot` at once and whenever it changes, at most two a second, and `Event`s.
"""

from typing import Any, Literal

import msgspec

from core.api.identity import IdentityCommand
from core.api.reasons import Reason
from core.api.record import HistoryCommand
from core.api.schedule import Preset
from core.api.snapshot import Place, Snapshot

MOST_HOURS = 4000
"""Entries of one reply to `GetHistory`: about two megabytes."""

Override = Literal["next_edge", "resumed", "none"]


class Subscribe(msgspec.Struct, frozen=True, tag=True):
    """Send snapshots and events on this connection from now on. Reply: null."""


class GetSnapshot(msgspec.Struct, frozen=True, tag=True):
    """Reply: a Snapshot."""


class Contribute(msgspec.Struct, frozen=True, tag=True):
    """Start or go on contributing. Clears a pause. Reply: null.

    `project` is an id, URL or manifest file: joined first if it is not yet. None takes the first joined project that
    can run, in the volunteer's order, and the practice project if none is joined.
    """

    project: str | None = None
    seconds: float | None = None
    """Stop after this long, whatever the schedule says until then. Whoever was contributing by the schedule, in hours
    that are off, goes back to the schedule."""
    until_epoch: int | None = None
    override: Override = "next_edge"
    """Hours of the schedule that are off are overridden until the schedule's next change, until `Resume`, or not."""


class Pause(msgspec.Struct, frozen=True, tag=True):
    """Stop contributing, for `seconds`, until the schedule's next change or until resumed. Reply: null."""

    seconds: float | None = None
    until: Literal["next_edge"] | None = None
    """Refused if the schedule never changes."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """End a pause; where there is none, an override of the schedule. Reply: null."""


class Quit(msgspec.Struct, frozen=True, tag=True):
    """End the session politely, then the engine. Reply: null, when the session is over; then the connection closes."""


class ListProjects(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of ProjectInfo."""


class ShowProject(msgspec.Struct, frozen=True, tag=True):
    """Reply: ProjectDetails."""

    project: str


class AddProject(msgspec.Struct, frozen=True, tag=True):
    """Read a manifest from a URL or a file and put it into the list. Reply: ProjectInfo."""

    source: str


class JoinProject(msgspec.Struct, frozen=True, tag=True):
    """Become a member. The invite goes to the keyring, never to disk in the clear if a keyring is there.
    Reply: ProjectInfo; `warning` is set if the secret had to be kept in a file."""

    project: str
    invite: str | None = None


class LeaveProject(msgspec.Struct, frozen=True, tag=True):
    """End the membership; the history stays. Reply: ProjectInfo."""

    project: str


class OrderProjects(msgspec.Struct, frozen=True, tag=True):
    """Prefer joined projects in this order; those not named follow as they were. Reply: list of ProjectInfo."""

    projects: tuple[str, ...]


class GetPicture(msgspec.Struct, frozen=True, tag=True):
    """Reply: Picture, or null if the project has none that can be shown."""

    project: str


class ShowLimits(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of LimitInfo; `gentle.NAME`, what NAME is in gentle hours, right after NAME."""


class SetLimit(msgspec.Struct, frozen=True, tag=True):
    """Reply: LimitInfo."""

    name: str
    value: int


class ResetLimit(msgspec.Struct, frozen=True, tag=True):
    """Reply: LimitInfo."""

    name: str


class GetSchedule(msgspec.Struct, frozen=True, tag=True):
    """Reply: ScheduleInfo."""


class SetSchedule(msgspec.Struct, frozen=True, tag=True):
    """Take a preset or painted cells (`core.api.schedule`), one of the two. Reply: ScheduleInfo."""

    preset: Preset | None = None
    cells: str | None = None


class ClearSchedule(msgspec.Struct, frozen=True, tag=True):
    """Back to always. Reply: ScheduleInfo."""


class GetPrograms(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of str, the programs during which nothing is contributed."""


class SetPrograms(msgspec.Struct, frozen=True, tag=True):
    """Replace that list by these names of executables. Reply: list of str, as it stands now."""

    names: tuple[str, ...]


class GetSensors(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of SensorInfo (`core.api.sensors`)."""


class GetCurve(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of CurvePoint by epoch."""

    project: str


class GetHistory(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of Contribution, one per session and hour, oldest first, from `since` (UTC seconds) on.

    A reply with fewer than `MOST_HOURS` is the last one; else there may be more `after` its last entry.
    """

    since: float | None = None
    after: tuple[float, int] | None = None
    """Hour and session of the entry to go on behind."""


Command = (
    Subscribe
    | GetSnapshot
    | Contribute
    | Pause
    | Resume
    | Quit
    | ListProjects
    | ShowProject
    | AddProject
    | JoinProject
    | LeaveProject
    | OrderProjects
    | GetPicture
    | ShowLimits
    | SetLimit
    | ResetLimit
    | GetSchedule
    | SetSchedule
    | ClearSchedule
    | GetPrograms
    | SetPrograms
    | GetSensors
    | GetCurve
    | GetHistory
    | HistoryCommand
    | IdentityCommand
)


class Request(msgspec.Struct, frozen=True):
    id: int
    command: Command


class Reply(msgspec.Struct, frozen=True, tag=True):
    id: int
    result: Any = None


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The command was not carried out; `usage` tells a wrong input (exit code 2) from the world's doing (1)."""

    id: int
    error: str
    usage: bool


class Event(msgspec.Struct, frozen=True, tag=True):
    """Something happened once that a front end may want to tell the volunteer."""

    kind: Literal["first_contribution", "epoch_done", "session_failed", "joined", "left", "warning"]
    text: str
    at: float
    project: str | None = None
    epoch: int | None = None
    loss: float | None = None


EngineMessage = Reply | Refusal | Snapshot | Event


class ProjectInfo(msgspec.Struct, frozen=True):
    """A row in the list of projects."""

    id: str
    name: str
    summary: str
    organiser: str
    license: str
    source: str
    """URL or file the manifest came from; `builtin` for the practice project."""
    joined: bool = False
    active: bool = False
    """The session at hand is in this project."""
    practice: bool = False
    warning: str | None = None
    rank: int = 0
    """Place in the volunteer's order among the joined ones, from 1; 0 if not joined."""
    reasons: tuple[Reason, ...] = ()
    """Why another joined project runs in its place."""


class Picture(msgspec.Struct, frozen=True):
    """A project's picture, fetched and checked by the engine."""

    format: Literal["png", "jpeg"]
    data: bytes


class ProjectDetails(msgspec.Struct, frozen=True):
    """A project with what a volunteer asks before joining."""

    info: ProjectInfo
    architecture: str
    task: str
    target_batch_size: int
    download_size: int
    """Bytes of data and tokenizer."""
    requirements: dict[str, int]
    missing: tuple[str, ...] = ()
    """What this machine lacks, one sentence each; empty means it fits."""
    homepage: str | None = None
    samples: int = 0
    """Given by this volunteer so far."""
    seconds: float = 0.0
    place: Place | None = None
    """As last heard from its backbone."""


class LimitInfo(msgspec.Struct, frozen=True):
    """A preference with its declaration and the value in force."""

    name: str
    value: int
    default: int
    unit: str
    lowest: int
    highest: int
    in_force: int
    """After everything that restricts it; of a limit for gentle hours: what would count in one."""
    page: str = ""
    """Where front ends show it."""
    zero: str = ""
    """What 0 means if it is no ordinary value: `automatic`, `unlimited`."""
    least: int = 0
    """The smallest value beside 0."""
    why: str | None = None
    """What makes the value in force differ from the one chosen: `gentle hours`, or `NAME is lower` of another limit."""


class CurvePoint(msgspec.Struct, frozen=True):
    """One epoch of the learning curve."""

    epoch: int
    loss: float | None = None
    """Training loss, mean over the peers that told."""
    evaluation_loss: float | None = None
    """On held-out data, measured by the backbone."""
    own_samples: int = 0
    """Given by this volunteer."""
    peers: int = 0


class Contribution(msgspec.Struct, frozen=True):
    """What one session gave in one hour (UTC)."""

    session: int
    project: str
    hour: float
    """Start of the hour, UTC seconds."""
    seconds: float
    samples: int
    rounds: int
    failed_rounds: int
    epochs: int
    cpu_seconds: float
    gpu_seconds: float
    joules: float | None
    """Measured; None: nothing was."""
    uploaded: int
    downloaded: int
    accepted: int | None = None
    """Samples that updates of the collaboration were made of; None: an older program did not record it."""
    flops: float | None = None
    """Floating-point operations; None: not counted."""
    processor_joules: float | None = None
    """The part of `joules` that the processor's counter told, the rest is the graphics card's."""
    estimated_joules: float | None = None
    """Beside `joules`, from watts that were told, not measured."""
    peers_met: int = 0
    """Peers that the session met for the first time in this hour."""
    averaging_up: int = 0
    """Bytes by kind; what is left of `uploaded` and `downloaded` an older program did not tell apart."""
    averaging_down: int = 0
    state_up: int = 0
    state_down: int = 0
    dht_up: int = 0
    dht_down: int = 0
    data_up: int = 0
    data_down: int = 0


request_decoder = msgspec.json.Decoder(Request)
engine_decoder = msgspec.json.Decoder(EngineMessage)


def line(message: Request | EngineMessage) -> bytes:
    """A message as it goes over the socket."""
    return msgspec.json.encode(message) + b"\n"

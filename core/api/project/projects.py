"""Projects as front ends see them: the list, details and the learning curve."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.api.message import Message
from core.api.reasons import Reason
from core.api.snapshot import Place


class ListProjects(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of ProjectInfo."""


class ShowProject(msgspec.Struct, frozen=True, tag=True):
    """Reply: ProjectDetails."""

    project: str


class AddProject(msgspec.Struct, frozen=True, tag=True):
    """Read a manifest from a URL or a file and add its project to the list. Reply: ProjectInfo."""

    source: str


class JoinProject(msgspec.Struct, frozen=True, tag=True):
    """Become a member. The invite is stored in the keyring or, if there is none, in a file; then `warning` of the
    reply is set. Reply: ProjectInfo."""

    project: str
    invite: str | None = None


class LeaveProject(msgspec.Struct, frozen=True, tag=True):
    """End the membership; the history stays. Reply: ProjectInfo."""

    project: str


class RemoveProject(msgspec.Struct, frozen=True, tag=True):
    """Take a project that is not joined off the list; its history stays. Reply: null."""

    project: str


class OrderProjects(msgspec.Struct, frozen=True, tag=True):
    """Prefer joined projects in this order; those not named follow as they were. Reply: list of ProjectInfo."""

    projects: tuple[str, ...]


class GetPicture(msgspec.Struct, frozen=True, tag=True):
    """Reply: Picture, or null if the project has none that can be shown."""

    project: str


class GetCurve(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of CurvePoint by epoch."""

    project: str


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
    """The present session is in this project."""
    practice: bool = False
    warning: Message | None = None
    rank: int = 0
    """Place in the order of joined projects, from 1; 0 if not joined."""
    reasons: tuple[Reason, ...] = ()
    """Why another joined project runs instead."""


class Picture(msgspec.Struct, frozen=True):
    """A project's picture, fetched by the engine."""

    format: Literal["png", "jpeg"]
    data: bytes


class ProjectDetails(msgspec.Struct, frozen=True):
    """Details of a project, for example for the decision to join."""

    info: ProjectInfo
    architecture: str
    task: str
    target_batch_size: int
    download_size: int
    """Bytes of data and tokenizer with which it begins, at most."""
    requirements: dict[str, int]
    missing: tuple[Message, ...] = ()
    """What this machine lacks; empty means it fits."""
    homepage: str | None = None
    samples: int = 0
    """What this volunteer contributed so far."""
    seconds: float = 0.0
    place: Place | None = None
    """As its backbone last reported."""
    hourly_download: int = 0
    """Bytes of data that it fetches later in an hour, at most; 0 if it begins with all."""


class Figure(msgspec.Struct, frozen=True):
    """What a task measures on held-out data besides the loss, such as `perplexity`."""

    kind: str
    value: float


class CurvePoint(msgspec.Struct, frozen=True):
    """One epoch of the learning curve."""

    epoch: Annotated[int, Meta(ge=0, le=1 << 53)]
    loss: float | None = None
    """Training loss, the mean of the reporting peers."""
    evaluation_loss: float | None = None
    """On held-out data, measured by the backbone."""
    own_samples: int = 0
    """This volunteer's."""
    peers: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    at: Annotated[float, Meta(ge=0.0, le=1 << 53)] = 0.0
    """When the epoch ended, UTC seconds; 0: not known."""
    figure: Figure | None = None
    """Measured together with the evaluation loss."""


ProjectCommand = (
    ListProjects
    | ShowProject
    | AddProject
    | JoinProject
    | LeaveProject
    | RemoveProject
    | OrderProjects
    | GetPicture
    | GetCurve
)

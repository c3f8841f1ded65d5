"""The protocol between the engine and a trainer: one JSON object a line on the child's stdin and stdout.

The engine sends `Start` first, then `ApplySettings`, `UseProxy`, `Hold`, `Resume` and `Leave` in any order. End of file
on stdin means that the engine has ended: the trainer leaves at once. The trainer sends at most two reports a second,
and `EpochDone`, `Remark` and `Fault` as they occur. Log lines go to stderr.
"""

from typing import Literal

import msgspec

from core.api.message import Message
from core.api.project.manifest import Manifest
from core.api.proxy import Proxy
from core.api.record.totals import Count, Counted
from core.api.session_settings import SessionSettings
from core.api.snapshot import CatchUp, Progress, Reachability, Traffic, Transfer

Stage = Literal["preparing", "joining", "syncing", "contributing", "holding", "leaving"]


class Start(msgspec.Struct, frozen=True, tag=True):
    """Everything a session needs. Paths are absolute."""

    manifest: Manifest
    """With absolute URLs."""
    identity: str
    """File of the peer's private key, created by the trainer if missing."""
    cache: str
    session_folder: str
    """Short-lived folder for sockets; the subreaper removes it."""
    settings: SessionSettings = SessionSettings()
    volunteer: str | None = None
    """File of the volunteer's private key, created if missing; None: nothing is published."""
    copies: str | None = None
    """Folder for the local copy of the run's state; None: no copy is kept."""
    origin: str | None = None
    """URL that the manifest was read from; the access token is sent to no other server."""
    access_token: str | None = None
    proxy: Proxy = Proxy()


class ApplySettings(msgspec.Struct, frozen=True, tag=True):
    settings: SessionSettings


class UseProxy(msgspec.Struct, frozen=True, tag=True):
    proxy: Proxy


class Hold(msgspec.Struct, frozen=True, tag=True):
    """Stop computing, keep memory, stay reachable."""


class Resume(msgspec.Struct, frozen=True, tag=True):
    """Compute again after `Hold`."""


class Leave(msgspec.Struct, frozen=True, tag=True):
    """Leave the run in order and exit 0 within `seconds`."""

    seconds: float = 5.0


TrainerCommand = Start | ApplySettings | UseProxy | Hold | Resume | Leave


class Counters(Counted, frozen=True):
    """Totals of this session, which never decrease. Bytes are counted by kind here, and all together in `Traffic`."""

    accepted: Count = 0


class Report(msgspec.Struct, frozen=True, tag=True):
    """The whole present state of the session."""

    stage: Stage
    progress: Progress = Progress()
    traffic: Traffic = Traffic()
    counters: Counters = Counters()
    transfer: Transfer | None = None
    catching_up: CatchUp | None = None
    cut_off: bool = False
    """Neither another peer nor the backbone can be reached: nothing is computed."""
    min_bandwidth: int = 0
    """Bytes per second, in each direction, below which the project's averaging rounds cannot end in time; 0 until the
    run is joined."""
    memory: int = 0
    """Bytes that all processes of the session hold, read now and then; 0: not read yet."""
    memory_at: float = 0.0
    """When it was read, UTC seconds."""
    reachability: Reachability | None = None


class EpochDone(msgspec.Struct, frozen=True, tag=True):
    """The collaboration made one optimizer step, with or without this peer's samples."""

    epoch: int
    """The epoch that begins now (after the first step: 1)."""
    loss: float | None
    """Mean training loss of this peer's samples; None without any."""
    samples: int
    """This peer's accepted samples in the epoch."""
    peers: int
    at: float


class Remark(msgspec.Struct, frozen=True, tag=True):
    """A message for the volunteer; the session continues."""

    message: Message


class Fault(msgspec.Struct, frozen=True, tag=True):
    """The session failed; the process exits right after it."""

    error: Message
    permanent: bool = False
    """True: a retry with the same input cannot help (wrong manifest, too little memory)."""


TrainerReport = Report | EpochDone | Remark | Fault

command_decoder = msgspec.json.Decoder(TrainerCommand)
report_decoder = msgspec.json.Decoder(TrainerReport)


def encode(message: TrainerCommand | TrainerReport) -> bytes:
    return msgspec.json.encode(message) + b"\n"

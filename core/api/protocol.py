"""The protocol between front ends and the engine: one JSON object a line on the profile's socket.

A front end sends `Request`s and gets one `Reply` or `Refusal` with the same id to each. After `Subscribe` it also gets
a `Snapshot` at once and whenever it changes, at most two a second, and `Event`s. A command's docstring names its reply.
"""

from typing import Any, Literal

import msgspec

from core.api.disk import DiskCommand
from core.api.identity import IdentityCommand
from core.api.installation.compute_runtime import RuntimeCommand
from core.api.installation.release import ReleaseCommand
from core.api.intent import IntentCommand
from core.api.message import Message
from core.api.preferences.commands import PreferenceCommand
from core.api.project.demonstration import GetDemonstration
from core.api.project.projects import ProjectCommand
from core.api.record.record import HistoryCommand
from core.api.sensors import GetSensors
from core.api.snapshot import Snapshot

LONGEST_LINE = 16 << 20
"""Bytes of what an engine sends, at most; the longest replies are curves and hours, of a few MiB."""


class Subscribe(msgspec.Struct, frozen=True, tag=True):
    """Send snapshots and events on this connection. Reply: null."""


class GetSnapshot(msgspec.Struct, frozen=True, tag=True):
    """Reply: a Snapshot."""


class Quit(msgspec.Struct, frozen=True, tag=True):
    """End the session, then the engine. Replies null when the session is over; then the connection closes."""

    with_front_ends: bool = False
    """Also those that stay open: they get the event `quitting`."""


class QuitUnused(msgspec.Struct, frozen=True, tag=True):
    """End as `Quit` if no other front end follows the engine, else when the last one that does has gone; not if one of
    them has asked it to contribute and borrowed nothing, or to resume.

    From a front end that needed the engine for a while. Reply: whether it ends now.
    """


Command = (
    Subscribe
    | GetSnapshot
    | Quit
    | QuitUnused
    | IntentCommand
    | ProjectCommand
    | GetDemonstration
    | PreferenceCommand
    | GetSensors
    | HistoryCommand
    | IdentityCommand
    | DiskCommand
    | RuntimeCommand
    | ReleaseCommand
)


class Request(msgspec.Struct, frozen=True):
    id: int
    command: Command


class Reply(msgspec.Struct, frozen=True, tag=True):
    id: int
    result: Any = None


class Refusal(msgspec.Struct, frozen=True, tag=True):
    """The command failed. `usage`: it was a `UsageError` (exit code 2), else a `WorldError` (1)."""

    id: int
    error: Message
    usage: bool


class Event(msgspec.Struct, frozen=True, tag=True):
    """A single occurrence that a front end may show. `kind` names its subject."""

    kind: Literal["first_contribution", "epoch_done", "session_failed", "joined", "left", "warning", "quitting"]
    message: Message
    at: float
    project: str | None = None
    epoch: int | None = None
    loss: float | None = None


EngineMessage = Reply | Refusal | Snapshot | Event

request_decoder = msgspec.json.Decoder(Request)
engine_decoder = msgspec.json.Decoder(EngineMessage)


def encode(message: Request | EngineMessage) -> bytes:
    return msgspec.json.encode(message) + b"\n"

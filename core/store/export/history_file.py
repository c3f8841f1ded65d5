"""The record as a file in JSON; `core.store.export.history_csv` has the table."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from core.api.record.totals import Amount, Count, Given

FORMAT = "idlehive-history"

Name = Annotated[str, Meta(max_length=300)]
Sentence = Annotated[str, Meta(max_length=4000)]
Moment = Annotated[float, Meta(ge=0, le=1e11)]
Hour = Annotated[int, Meta(ge=0, le=10**11, multiple_of=3600)]


class FileHour(Given, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a session gave in one hour."""

    hour: Hour


class FileSession(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    origin: Name
    """Id of the record that it was recorded in."""
    project: Name
    run_id: Name
    started_at: Moment
    ended_at: Moment | None = None
    ending: Sentence | None = None
    """The kind of a message; in older files several kinds or a sentence."""
    ending_params: Sentence | None = None
    """Its parameters, as JSON."""
    hours: tuple[FileHour, ...] = ()


class FileIdle(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Seconds of an hour in which contributing was wanted but prevented."""

    origin: Name
    hour: Hour
    reason: Name
    seconds: Amount


class FileEpoch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    origin: Name
    project: Name
    run_id: Name
    epoch: Count
    own_samples: Count
    peers: Count
    at: Moment
    loss: float | None = None


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole record."""

    format: Literal["idlehive-history"]
    version: Literal[1]
    written_at: Moment
    sessions: tuple[FileSession, ...]
    idle: tuple[FileIdle, ...]
    epochs: tuple[FileEpoch, ...]


def as_json(file: File) -> bytes:
    return msgspec.json.format(msgspec.json.encode(file), indent=1)

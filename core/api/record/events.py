"""What has happened on this computer, for people: one entry for each change that they would want to know of."""

import msgspec

from core.api.message import Message

MOST_EVENTS = 1000


class GetEvents(msgspec.Struct, frozen=True, tag=True):
    """Reply: list of PastEvent, newest first, at most `MOST_EVENTS`."""

    project: str | None = None
    """None: of all, and those of none."""


class PastEvent(msgspec.Struct, frozen=True):
    kind: str
    """That of a `protocol.Event`, or `state`: contributing has begun, has ended, or waits for a reason."""
    message: Message
    at: float
    project: str | None = None
    name: str = ""
    """The project's."""

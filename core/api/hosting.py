"""The wire between the engine and an embedded backbone: one JSON line on the child's stdout, once it serves or cannot.

The backbone ends when its stdin closes. Log lines go to stderr.
"""

import msgspec


class Serving(msgspec.Struct, frozen=True, tag=True):
    """The backbone is ready for peers."""

    manifest_url: str


class Fault(msgspec.Struct, frozen=True, tag=True):
    """The backbone cannot serve; the process exits right after it."""

    error: str
    """One sentence for the volunteer."""


HostReport = Serving | Fault

host_decoder = msgspec.json.Decoder(HostReport)


def line(message: HostReport) -> bytes:
    """A message as it goes over the pipe."""
    return msgspec.json.encode(message) + b"\n"

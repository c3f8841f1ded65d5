"""The protocol between a backbone and its parent process: one JSON object a line on the child's stdout and stdin.

The backbone reports once that it serves or cannot, and sends an organiser's terminal a `Note` of what happens. Between
`Hold` and `Resume` it computes nothing, because its only volunteer holds. `ApplySettings` limits what it may use of the
volunteer's computer. It ends when its stdin closes. Log lines go to stderr.
"""

import msgspec

from core.api.message import Message
from core.api.session import ApplySettings, Fault, Hold, Resume

HTTP = "127.0.0.1:8330"
"""Where the web server of a backbone listens by default."""


class Serving(msgspec.Struct, frozen=True, tag=True):
    """The backbone is ready for peers."""

    manifest_url: str


class Note(msgspec.Struct, frozen=True, tag=True):
    """What the organiser should know; the backbone continues."""

    message: Message
    at: float
    """UTC seconds."""


HostReport = Serving | Note | Fault

HostCommand = Hold | Resume | ApplySettings

host_command_decoder = msgspec.json.Decoder(HostCommand)
host_decoder = msgspec.json.Decoder(HostReport)


def encode(message: HostReport | HostCommand) -> bytes:
    return msgspec.json.encode(message) + b"\n"

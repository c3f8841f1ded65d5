"""Other machines of the volunteer's whose engines are reached over SSH."""

import re
from urllib.parse import urlsplit

import msgspec

from core.api.errors import UsageError
from core.api.message import Message

_NAME = r"[\w.-]{1,40}"
_HOST = r"[A-Za-z0-9][\w.-]*|[0-9A-Fa-f:]+(%\w+)?"
_USER = r"[\w.][\w.@-]*"
_PROGRAM = r"~?/[\w./+-]*[\w+-]"
"""What a shell of any kind takes as it is, so nothing has to be quoted."""


class Machine(msgspec.Struct, frozen=True):
    name: str
    address: str
    """`ssh://[USER@]HOST[:PORT][/PROGRAM]`; PROGRAM is the path of `idlehive` there, where PATH does not have it."""

    @property
    def host(self) -> str:
        """A name that SSH knows: of the DNS, or of the volunteer's own SSH configuration."""
        return urlsplit(self.address).hostname or ""

    @property
    def port(self) -> int | None:
        return urlsplit(self.address).port

    @property
    def user(self) -> str:
        return urlsplit(self.address).username or ""

    @property
    def program(self) -> str:
        return _program(urlsplit(self.address).path) or "idlehive"


class Hello(msgspec.Struct, frozen=True, tag=True):
    """The first line from another machine; those of its engine follow."""

    version: str
    started: bool
    """The engine did not run before."""


class NoEngine(msgspec.Struct, frozen=True, tag=True):
    """The first and only line: its engine cannot be used."""

    error: Message


def checked_machine(name: str, address: str) -> Machine:
    """A machine whose name and address can be used.

    Raises:
        UsageError: they cannot.
    """
    if not re.fullmatch(_NAME, name) or name.startswith("-"):
        raise UsageError("machine_name_unclear", name=name)
    typed = address.strip()
    try:
        parts = urlsplit(typed if "://" in typed else f"ssh://{typed}")
        port = parts.port
    except ValueError:
        raise UsageError("machine_address_unclear", address=typed) from None
    program = _program(parts.path)
    is_usable = (
        parts.scheme == "ssh"
        and port != 0
        and re.fullmatch(_HOST, parts.hostname or "")
        and (not parts.username or re.fullmatch(_USER, parts.username))
        and (not program or re.fullmatch(_PROGRAM, program))
        and not (parts.password or parts.query or parts.fragment)
    )
    if not is_usable:
        raise UsageError("machine_address_unclear", address=typed)
    return Machine(name, parts.geturl())


def _program(path: str) -> str:
    """As git writes it: `/~/bin/idlehive` is in the home folder."""
    return path[1:] if path.startswith("/~/") else path.rstrip("/")

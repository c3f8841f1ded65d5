"""The volunteer's identity as front ends see it: the key that contributions are signed with, on every machine.

It is not the peer id, which belongs to one machine. Its secret part leaves the engine only under a passphrase.
"""

import msgspec

SHORTEST_PASSPHRASE = 8


class GetIdentity(msgspec.Struct, frozen=True, tag=True):
    """Reply: IdentityInfo. The key is made when it is first asked for or needed."""


class ExportIdentity(msgspec.Struct, frozen=True, tag=True):
    """Reply: IdentityExport."""

    passphrase: str


class ImportIdentity(msgspec.Struct, frozen=True, tag=True):
    """Take over an identity exported on another machine; refused if it is not `replace` and this profile has another
    one. Counts from the next session on. Reply: IdentityInfo."""

    text: str
    passphrase: str
    replace: bool = False


class IdentityInfo(msgspec.Struct, frozen=True):
    id: str
    """The public key: 64 hexadecimal digits."""


class IdentityExport(msgspec.Struct, frozen=True):
    """What a front end writes to a file: of no use without the passphrase."""

    text: str


IdentityCommand = GetIdentity | ExportIdentity | ImportIdentity


def short(id: str) -> str:  # noqa: A002 - the identity's own word
    """The beginning of an id, for a table."""
    return f"{id[:4]} {id[4:8]}"

"""The volunteer's identity as front ends see it: the key that signs contributions, the same on all their machines.

The peer id is another key, of one machine. The secret part leaves the engine only encrypted with a passphrase.
"""

import msgspec

SHORTEST_PASSPHRASE = 8


class GetIdentity(msgspec.Struct, frozen=True, tag=True):
    """Reply: IdentityInfo. Creates the key if there is none."""


class ExportIdentity(msgspec.Struct, frozen=True, tag=True):
    """Reply: IdentityExport."""

    passphrase: str


class ImportIdentity(msgspec.Struct, frozen=True, tag=True):
    """Import an identity exported on another machine; refused without `replace` if this profile has another one.
    Applies from the next session. Reply: IdentityInfo."""

    text: str
    passphrase: str
    replace: bool = False


class IdentityInfo(msgspec.Struct, frozen=True):
    id: str
    """The public key: 64 hexadecimal digits."""


class IdentityExport(msgspec.Struct, frozen=True):
    """The encrypted identity, which a front end writes to a file."""

    text: str


IdentityCommand = GetIdentity | ExportIdentity | ImportIdentity


def short(id: str) -> str:  # noqa: A002 - the field's name
    """The beginning of an id, for a table."""
    return f"{id[:4]} {id[4:8]}"

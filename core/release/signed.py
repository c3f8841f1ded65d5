"""The release file: which version is newest, what is new in it, and which bytes it is. Pure.

    {"signed": TEXT, "signatures": {PUBLIC_KEY: SIGNATURE, ...}}

TEXT is a JSON document, a `Release`, signed by Ed25519 (RFC 8032) as the bytes that it is, so that nobody has to agree
on a canonical form. Keys, signatures and hashes are hexadecimal.

Of The Update Framework (TUF, specification 1.0) this keeps: nothing is read before a signature of a trusted key was
verified; sizes and SHA-256 of all files; an expiry, so that nobody can hide new versions for long; numbers that only
grow, so that nobody can bring back an old one; several signatures, so that keys can be replaced: the publisher signs
with the old and the new key until every package in use knows the new one. It has one role in place of four, one
signature is enough, and a stolen key cannot be revoked but by a new package.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from core.api.errors import WorldError

LONGEST = 256 << 10
"""Bytes of the whole file."""
FORMAT = 1
_MOST_PARTS = 4
"""Of a version."""

Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
Version = Annotated[str, msgspec.Meta(pattern=r"^(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){1,3}\Z")]


class File(msgspec.Struct, frozen=True):
    """A package to download; `url` may be relative to that of the release file."""

    url: str
    size: Annotated[int, msgspec.Meta(gt=0, le=1 << 32)]
    sha256: Hash


class Release(msgspec.Struct, frozen=True):
    """What is signed."""

    number: int
    """Grows with each release file that is published, such as the time of its signature."""
    expires: float
    """UTC seconds: from then on it must not be believed."""
    version: Version
    changelog: str
    files: dict[str, File]
    """By kind of package."""
    format: int = FORMAT


class Envelope(msgspec.Struct, frozen=True):
    signed: str
    signatures: dict[str, str]


class _Format(msgspec.Struct, frozen=True):
    format: int


def verified(data: bytes, keys: Sequence[str], now: float, least: int = 0) -> Release:
    """The release that `data` holds, signed by one of `keys`.

    Parameters:
        least: the highest number that was ever seen.

    Raises:
        WorldError: it is not signed, has expired, is older than what was seen, or cannot be read.
    """
    try:
        envelope = msgspec.json.decode(data, type=Envelope)
    except (msgspec.DecodeError, RecursionError):
        raise WorldError("release_unreadable") from None
    if not any(_has_signed(key, envelope.signatures, envelope.signed.encode()) for key in keys):
        raise WorldError("release_not_signed")
    release = _read(envelope.signed)
    if release.expires <= now:
        raise WorldError("release_expired")
    if release.number < least:
        raise WorldError("release_older")
    return release


def is_newer(version: str, than: str) -> bool:
    """Whether a version comes after another; none comes after one that is not a version, such as that of a checkout."""
    try:
        return _parts(version) > _parts(than)
    except ValueError:
        return False


def _parts(version: str) -> list[int]:
    parts = [int(part) for part in version.split(".")]
    return parts + [0] * (_MOST_PARTS - len(parts))  # 0.1 is 0.1.0


def _read(text: str) -> Release:
    try:
        if msgspec.json.decode(text, type=_Format).format > FORMAT:
            raise WorldError("release_format_newer")
        return msgspec.json.decode(text, type=Release)
    except (msgspec.DecodeError, RecursionError):
        raise WorldError("release_unreadable") from None


def _has_signed(key: str, signatures: Mapping[str, str], text: bytes) -> bool:
    # Imported late: the engine reads this module's classes, and seldom checks a signature.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signatures[key]), text)
    except (KeyError, ValueError, InvalidSignature):
        return False
    return True

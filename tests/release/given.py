"""Release files of a publisher, honest and not."""

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from core.release import publish
from core.release.signed import File, Release

KEY = Ed25519PrivateKey.from_private_bytes(b"publisher".ljust(32))
STRANGER = Ed25519PrivateKey.from_private_bytes(b"stranger".ljust(32))
PUBLIC = publish.public(KEY)
FAR = 4e9
"""A moment in the year 2096."""
RELEASE = Release(number=5, expires=FAR, version="9.0.0", changelog="- Faster.", files={})


def with_package(kind: str, content: bytes) -> Release:
    """A release with one package, beside the release file."""
    return replace(RELEASE, files={kind: File("package", len(content), hashlib.sha256(content).hexdigest())})


def signed(release: Release = RELEASE) -> bytes:
    return publish.sign(release, [KEY])

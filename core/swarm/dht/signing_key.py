"""The key with which a process signs its records in the DHT: Ed25519 (RFC 8032), in place of hivemind's RSA.

Each record carries public key and signature, and every peer reads those of all others again and again. With RSA they
are 730 of the 930 bytes of a report of progress, with Ed25519 130.
"""

import base64
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hivemind.utils.crypto import PrivateKey, PublicKey


class SigningKey(PrivateKey):
    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()

    @staticmethod
    def process_wide() -> "SigningKey":
        """That of this process and of those forked from it."""
        return _PROCESS_WIDE

    def sign(self, data: bytes) -> bytes:
        return base64.b64encode(self._key.sign(data))

    def get_public_key(self) -> "VerifyingKey":
        return VerifyingKey(base64.b64encode(self._key.public_key().public_bytes_raw()))

    def __getstate__(self) -> bytes:
        # Validators, which hold a key, are sent to the DHT's process.
        return self._key.private_bytes_raw()

    def __setstate__(self, state: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(state)


class VerifyingKey(PublicKey):
    """The public one, as a record names it."""

    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether it is a key, and the signature its own."""
        try:
            key = Ed25519PublicKey.from_public_bytes(base64.b64decode(self._encoded, validate=True))
            key.verify(base64.b64decode(signature, validate=True), data)
        except (InvalidSignature, ValueError):
            return False
        return True

    def to_bytes(self) -> bytes:
        return self._encoded

    @classmethod
    def from_bytes(cls, key: bytes) -> Self:
        return cls(key)


_PROCESS_WIDE = SigningKey()
